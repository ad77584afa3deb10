import { describe, expect, it } from 'vitest';
import { handler } from '../../functions/open/unmatched.ts';
import { errorOf } from '../api.ts';
import { createTaskCallers } from '../functions/kanban-tasks/task-caller.ts';
import { call, eventOf } from '../service.ts';

await createTaskCallers();
const id = 'tk_01K00000000000000000000000';

const send = (method: string, path: string) => call(handler, { method, path });

describe('an unknown path', () => {
  it.each([
    ...['', '/api/kanban-tasks/', '/api//kanban-tasks', '/api/Kanban-Tasks', `/api/kanban-tasks/${id}/votes`],
    ...['/__proto__', '*', '/%ZZ', '/\u0000'],
  ])('%j leads to 404 not_found with any method', async (path) => {
    for (const method of ['GET', 'POST', 'PUT', 'OPTIONS']) {
      const answer = await send(method, path);
      expect([answer.status, errorOf(answer).code]).toEqual([404, 'not_found']);
      expect(answer.headers).not.toHaveProperty('Allow');
    }
  });

  it('of 10 KB leads to 404 not_found without the path in the response', async () => {
    const answer = await send('GET', `/${'x'.repeat(10_240)}`);
    expect(answer.status).toBe(404);
    expect(JSON.stringify(answer.body).length).toBeLessThan(1_000);
  });
});

it.each([
  ['PUT', '/api/kanban-tasks', 'GET, POST'],
  ['PUT', '/api/kanban-tasks/malformed', 'DELETE, GET, PATCH'],
  ['PUT', '/api/kanban-tasks/counts', 'GET'],
  ['POST', '/api/agents/executions/metrics', 'GET'],
  ['DELETE', '/api/agents/executions/metrics', 'GET'],
  ['POST', '/health', 'GET, HEAD'],
  ['DELETE', '/api/me', 'GET'],
  ['TRACE', '/openapi.json', 'GET, HEAD'],
])('the method of %s %s leads to 405 method_not_allowed with Allow: %s', async (method, path, allow) => {
  const answer = await send(method, path);
  const message = `${method} is not allowed here; use ${allow.replaceAll(', ', ' or ')}.`;
  expect([answer.status, answer.headers.Allow]).toEqual([405, allow]);
  expect(errorOf(answer)).toMatchObject({ code: 'method_not_allowed', message });
});

it('a method that only a path below has leads to 405 that names the path', async () => {
  const { message } = errorOf(await send('POST', '/api/webhooks'));
  expect(message).toBe('POST is not allowed here; use GET, or POST /api/webhooks/register.');
});

it.each([
  ['HEAD', '/api/kanban-tasks', 405, 'GET, POST'],
  ['HEAD', '/api/me', 405, 'GET'],
  ['HEAD', '/nothing', 404, undefined],
  ['OPTIONS', `/api/kanban-tasks/${id}`, 204, 'DELETE, GET, PATCH'],
  ['OPTIONS', '/health', 204, 'GET, HEAD'],
  ['HEAD', '/api/agents/executions/metrics', 405, 'GET'],
  ['OPTIONS', '/api/agents/skills', 204, 'GET'],
  ['OPTIONS', '/api/kanban-tasks/counts', 204, 'GET'],
  ['OPTIONS', '/api/me', 204, 'GET'],
  ['OPTIONS', '/api/agents/executions/metrics', 204, 'GET'],
  ['OPTIONS', '/api/webhooks/register', 204, 'POST'],
])('%s of %s leads to %i without a body', async (method, path, status, allow) => {
  const answer = await handler(eventOf({ method, path }), { getRemainingTimeInMillis: () => 29_000 } as never);
  expect([answer.statusCode, answer.headers?.Allow, answer.body ?? '']).toEqual([status, allow, '']);
  expect(answer.headers?.['X-Request-Id']).toMatch(/^[0-9a-f-]{36}$/);
});
