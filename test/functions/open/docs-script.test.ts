import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { handler } from '../../../functions/open/docs.ts';
import { contextOf } from '../../../infra/local/functions.ts';
import { eventOf } from '../../service.ts';

const source = readFileSync('lib/http/docs/scalar/SOURCE.md', 'utf8');
const ask = (headers: Record<string, string> = {}) =>
  handler(eventOf({ path: '/docs/script.js', headers }), contextOf('docs', 29));

it('answers the script to anyone as a script, and gzipped to who takes that', async () => {
  const [plain, compressed] = [await ask(), await ask({ 'Accept-Encoding': 'gzip, deflate, br' })];
  expect([plain.statusCode, compressed.statusCode]).toEqual([200, 200]);
  expect(plain.headers?.['Content-Type']).toBe('text/javascript; charset=utf-8');
  expect(compressed.headers).toMatchObject({ 'Content-Encoding': 'gzip', Vary: 'Accept-Encoding' });
  expect(compressed.isBase64Encoded).toBe(true);
  expect(gunzipSync(Buffer.from(compressed.body as string, 'base64')).toString()).toBe(plain.body);
});

it('is the release that its source names, byte for byte', async () => {
  const { body = '' } = await ask();
  const [, release] = /^\* (@scalar\/api-reference [\d.]+)$/m.exec(body) ?? [];
  expect(source).toContain(String(release).replace(' ', '@'));
  expect(source).toContain(createHash('sha256').update(body).digest('hex'));
});

it('is cached by browsers, and answers 304 to the current ETag', async () => {
  const { headers = {} } = await ask();
  expect(headers['Cache-Control']).toBe('no-cache');
  const again = await ask({ 'If-None-Match': String(headers.ETag) });
  expect([again.statusCode, again.body, again.headers?.ETag]).toEqual([304, undefined, headers.ETag]);
  expect((await ask({ 'If-None-Match': 'W/"of another release"' })).statusCode).toBe(200);
});
