import { expect, it } from 'vitest';
import { handler } from '../../../functions/open/openapi.ts';
import { contextOf } from '../../../infra/local/functions.ts';
import { errorOf } from '../../api.ts';
import { call, eventOf } from '../../service.ts';
import { createTaskCallers } from '../kanban-tasks/task-caller.ts';

await createTaskCallers();

it('answers the document to anyone, without a token and without the envelope', async () => {
  const answer = await call(handler, { path: '/openapi.json' });
  expect(answer.status).toBe(200);
  expect(answer.headers['Content-Type']).toBe('application/json');
  expect(answer.headers['X-Request-Id']).toMatch(/^[0-9a-f-]{36}$/);
  expect(Object.keys(answer.body)).toEqual(['openapi', 'info', 'servers', 'tags', 'paths', 'webhooks', 'components']);
});

it('is refused with 400 validation_failed for a query, which it does not take', async () => {
  const answer = await call(handler, { path: '/openapi.json', query: 'format=yaml' });
  expect([answer.status, errorOf(answer).code]).toEqual([400, 'validation_failed']);
});

it('answers 304 to the current ETag and 200 to another', async () => {
  const { headers } = await call(handler, { path: '/openapi.json' });
  const ask = (tag: string) =>
    handler(eventOf({ path: '/openapi.json', headers: { 'If-None-Match': tag } }), contextOf('openapi', 29));
  expect(await ask(String(headers.ETag))).toMatchObject({ statusCode: 304, headers: { ETag: headers.ETag } });
  expect(await ask('W/"of another version"')).toMatchObject({ statusCode: 200 });
});
