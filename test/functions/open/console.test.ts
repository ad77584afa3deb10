import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { handler } from '../../../functions/open/console-page.ts';
import { contextOf } from '../../../infra/local/functions.ts';
import { consoleAsset } from '../../../lib/contract/open/console.ts';
import { readConsole } from '../../../lib/http/console/console-files.ts';
import { call, eventOf } from '../../service.ts';

const page = await handler(eventOf({ path: '/' }), contextOf('consolePage', 29));
const body = page.body ?? '';

/** The files that the page names. */
const named = [...body.matchAll(/(?:src|href)="\/assets\/([^"]*)"/g)].map(([, file]) => file as string);

function getAsset(file: string, headers: Record<string, string> = { 'Accept-Encoding': 'gzip' }) {
  const event = eventOf({ path: `/assets/${file}`, route: consoleAsset.path, params: { file }, headers });
  return handler(event, contextOf('consolePage', 29));
}

describe('the page of the console', () => {
  it('is served to anyone, is not kept, and sends no Referer to other pages', () => {
    expect(page.statusCode).toBe(200);
    expect(page.headers).toMatchObject({
      'Content-Type': 'text/html; charset=utf-8',
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
    });
  });

  it('runs only its own scripts and styles, sends only to this service, and is in no frame', () => {
    const policy = String(page.headers?.['Content-Security-Policy']).split('; ').toSorted();
    expect(policy).toEqual([
      "base-uri 'none'",
      "connect-src 'self'",
      "default-src 'none'",
      "font-src 'self'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "img-src 'self'",
      "script-src 'self'",
      "style-src 'self'",
    ]);
    expect(body).not.toMatch(/<script(?! type="module" src="\/assets\/)|<style|\sstyle=|\son\w+=|https?:/);
  });

  it('names only files that the service has', async () => {
    expect(named.length).toBeGreaterThanOrEqual(3);
    for (const file of named) expect([file, (await getAsset(file)).statusCode]).toEqual([file, 200]);
  });
});

describe('a file of the console', () => {
  it('is kept for a year without revalidation, because its name has a hash of its content', async () => {
    const { script } = await readConsole();
    expect(script).toMatch(/^main-[A-Z0-9]{8}\.js$/);
    const { headers } = await getAsset(script);
    expect(headers).toMatchObject({
      'Content-Type': 'text/javascript; charset=utf-8',
      'Cache-Control': 'public, max-age=31536000, immutable',
      'Content-Encoding': 'gzip',
      Vary: 'Accept-Encoding',
    });
  });

  it('is the same with and without gzip', async () => {
    const { style, icon } = await readConsole();
    for (const file of [style, icon]) {
      const gzipped = await getAsset(file);
      const plain = await getAsset(file, {});
      expect(gunzipSync(Buffer.from(gzipped.body as string, 'base64')).toString('utf8')).toBe(plain.body);
    }
  });

  it('is a font of at most 60 KB, which the style sheet names, and which is the same with and without gzip', async () => {
    const { style } = await readConsole();
    const { body: css } = await getAsset(style, {});
    const [, file = ''] = /url\("?\.\/([\w-]+\.woff2)"?\)/.exec(css ?? '') ?? [];
    const gzipped = await getAsset(file);
    const plain = await getAsset(file, {});
    expect(plain).toMatchObject({ headers: { 'Content-Type': 'font/woff2' }, isBase64Encoded: true });
    const font = Buffer.from(plain.body as string, 'base64');
    expect(font.subarray(0, 4).toString()).toBe('wOF2');
    expect(font.length).toBeLessThan(60_000);
    expect(gunzipSync(Buffer.from(gzipped.body as string, 'base64')).equals(font)).toBe(true);
  });

  it.each(['main-OLDER123.js', '__proto__', 'constructor', '../package.json'])(
    '%s, which this version does not have, leads to 404 not_found',
    async (file) => {
      const answer = await call(handler, {
        method: 'GET',
        path: `/assets/${file}`,
        route: consoleAsset.path,
        params: { file },
      });
      expect(answer.status).toBe(404);
      expect(answer.body).toMatchObject({ error: { code: 'not_found', message: expect.stringContaining('reload') } });
    },
  );
});

it('the first screen of the console loads at most 200 KB of gzipped scripts', async () => {
  const { files, script, imports } = await readConsole();
  const size = [script, ...imports].reduce((sum, file) => sum + Buffer.from(files[file] as string, 'base64').length, 0);
  expect(size).toBeGreaterThan(50_000);
  expect(size).toBeLessThan(200_000);
});
