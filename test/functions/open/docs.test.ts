import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { handler } from '../../../functions/open/docs.ts';
import { contextOf } from '../../../infra/local/functions.ts';
import { endpoints } from '../../../lib/contract/endpoints.ts';
import { eventOf } from '../../service.ts';

const { statusCode, headers = {}, body = '' } = await handler(eventOf({ path: '/docs' }), contextOf('docs', 29));

/** The sources that the policy allows, by the kind of content. */
const allowed = Object.fromEntries(
  String(headers['Content-Security-Policy'])
    .split('; ')
    .map((directive) => directive.split(' '))
    .map(([kind, ...sources]) => [kind, sources]),
);

/** The scripts that stand in the page itself, and the addresses of the others. */
const inline = [...body.matchAll(/<script>(.*?)<\/script>/gs)].map(([, script]) => script as string);
const addresses = [...body.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address]) => address);

it('answers the page to anyone, without the envelope, and sends no Referer to other pages', () => {
  expect(statusCode).toBe(200);
  expect(headers).toMatchObject({
    'Content-Type': 'text/html; charset=utf-8',
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'X-Request-Id': expect.stringMatching(/^[0-9a-f-]{36}$/),
  });
  expect(body).toMatch(/^<!doctype html>\n<html lang="en">/);
});

it('runs only scripts of this service and the one that its policy names by hash', () => {
  expect(inline).toHaveLength(1);
  const hash = createHash('sha256')
    .update(inline[0] as string)
    .digest('base64');
  expect(allowed['script-src']).toEqual(["'self'", `'sha256-${hash}'`]);
  expect(body).not.toMatch(/\son\w+=/);
});

it('sends to this service alone, and stands in no frame', () => {
  expect(allowed['connect-src']).toEqual(["'self'"]);
  for (const directive of ['default-src', 'frame-ancestors', 'base-uri', 'form-action'])
    expect([directive, allowed[directive]]).toEqual([directive, ["'none'"]]);
  expect(headers['Content-Security-Policy']).not.toMatch(/https?:|unsafe-eval|\*/);
});

it('names nothing but rows of this service', () => {
  expect(addresses).toEqual(['data:,', endpoints.openapi.path, endpoints.docsScript.path]);
  expect(inline[0]).toContain(`fetch('${endpoints.openapi.path}')`);
  expect(body.replace(/<script type="application\/json".*?<\/script>/s, '')).not.toMatch(/https?:/);
});

it('configures the renderer without telemetry, stored tokens, services of third parties and developer tools', () => {
  const [, configuration = ''] = /\.\.\.(\{.*\}), content/.exec(inline[0] as string) ?? [];
  expect(JSON.parse(configuration)).toMatchObject({
    authentication: { preferredSecurityScheme: 'bearer' },
    persistAuth: false,
    telemetry: false,
    withDefaultFonts: false,
    agent: { disabled: true },
    mcp: { disabled: true },
    hideClientButton: true,
    showDeveloperTools: 'never',
  });
});
