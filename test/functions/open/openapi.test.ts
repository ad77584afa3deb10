import { expect, it } from 'vitest';
import { handler } from '../../../functions/open/openapi.ts';
import { call } from '../../service.ts';

it('answers the document to anyone, without a token and without the envelope', async () => {
  const { status, headers, body } = await call(handler, { path: '/openapi.json' });
  expect(status).toBe(200);
  expect(headers['Content-Type']).toBe('application/json');
  expect(headers['X-Request-Id']).toMatch(/^[0-9a-f-]{36}$/);
  expect(Object.keys(body)).toEqual(['openapi', 'info', 'servers', 'tags', 'paths', 'webhooks', 'components']);
});

it('answers 304 to the current ETag and 200 to another', async () => {
  const { headers } = await call(handler, { path: '/openapi.json' });
  const ask = (tag: string) => call(handler, { path: '/openapi.json', headers: { 'If-None-Match': tag } });
  expect(await ask(String(headers.ETag))).toMatchObject({ status: 304, headers: { ETag: headers.ETag } });
  expect(await ask('W/"of another version"')).toMatchObject({ status: 200 });
});
