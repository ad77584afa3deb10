import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { handler } from '../../../functions/open/docs.ts';
import { contextOf } from '../../../infra/local/functions.ts';
import { endpoints } from '../../../lib/contract/endpoints.ts';
import { errorOf } from '../../api.ts';
import { call, eventOf } from '../../service.ts';
import { createTaskCallers } from '../kanban-tasks/task-caller.ts';

await createTaskCallers();

const { statusCode, headers = {}, body = '' } = await handler(eventOf({ path: '/docs' }), contextOf('docs', 29));

/** The sources that the policy allows for a kind of content. */
function allowed(directive: string): string[] {
  const policy = String(headers['Content-Security-Policy']).split('; ');
  return (
    policy
      .find((one) => one.startsWith(`${directive} `))
      ?.split(' ')
      .slice(1) ?? []
  );
}

/** The scripts that stand in the page itself, and the addresses of the others. */
const inline = [...body.matchAll(/<script>(.*?)<\/script>/gs)].map(([, script]) => script as string);
const addresses = [...body.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address]) => address);

it('answers the page to anyone, without a token and without the envelope', () => {
  expect(statusCode).toBe(200);
  expect(headers['Content-Type']).toBe('text/html; charset=utf-8');
  expect(headers['X-Request-Id']).toMatch(/^[0-9a-f-]{36}$/);
  expect(body).toMatch(/^<!doctype html>\n<html lang="en">/);
});

it('has the headers of every response, and sends no Referer to other pages', () => {
  expect(headers).toMatchObject({
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
  });
});

it('runs only scripts of this service and the one that its policy names by hash', () => {
  expect(inline).toHaveLength(1);
  const hash = createHash('sha256')
    .update(inline[0] as string)
    .digest('base64');
  expect(allowed('script-src')).toEqual(["'self'", `'sha256-${hash}'`]);
  expect(body).not.toMatch(/\son\w+=/);
});

it('sends to this service alone, and stands in no frame', () => {
  expect(allowed('default-src')).toEqual(["'none'"]);
  expect(allowed('connect-src')).toEqual(["'self'"]);
  for (const directive of ['frame-ancestors', 'base-uri', 'form-action'])
    expect([directive, allowed(directive)]).toEqual([directive, ["'none'"]]);
  expect(headers['Content-Security-Policy']).not.toMatch(/https?:|unsafe-eval|\*/);
});

it('names nothing but rows of this service', () => {
  expect(addresses).toEqual(['data:,', endpoints.openapi.path, endpoints.docsScript.path]);
  expect(inline[0]).toContain(`fetch('${endpoints.openapi.path}')`);
  expect(body).not.toMatch(/https?:/);
});

it('is refused with 400 validation_failed for a query, which it does not take', async () => {
  const answer = await call(handler, { path: '/docs', query: 'theme=dark' });
  expect([answer.status, errorOf(answer).code]).toEqual([400, 'validation_failed']);
  expect(answer.headers).not.toHaveProperty('Content-Security-Policy');
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
