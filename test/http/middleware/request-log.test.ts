import { inspect } from 'node:util';
import type { Request } from '@middy/core';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { handler as unmatched } from '../../../functions/open/unmatched.ts';
import { processContext } from '../../../lib/context.ts';
import { createTask } from '../../../lib/contract/tasks.ts';
import { requestLog } from '../../../lib/http/middleware/request-log.ts';
import { serve } from '../../../lib/http/serve.ts';
import { readToken } from '../../../lib/http/token.ts';
import * as tasks from '../../../lib/tasks/tasks.ts';
import { errorOf } from '../../api.ts';
import { createTaskCallers, type TaskCaller } from '../../functions/kanban-tasks/task-caller.ts';
import { call, eventOf } from '../../service.ts';
import { failRequests } from '../fail-requests.ts';

const { newTaskCaller } = await createTaskCallers();
const absent = 'tk_01K00000000000000000000000';

/** The logged lines: level, message and fields. */
let lines: [string, string, Record<string, unknown>][] = [];

let board: TaskCaller;

beforeEach(async () => {
  board = await newTaskCaller();
  lines = [];
  for (const level of ['info', 'warn', 'error'] as const)
    vi.spyOn(processContext().log, level).mockImplementation((...logged: unknown[]) => {
      lines.push([level, ...logged] as (typeof lines)[number]);
    });
});

afterEach(() => vi.restoreAllMocks());

describe('the log', () => {
  it('has one line for each request, with route, status, requestId, organization and token id', async () => {
    const answer = await board.createTask({ body: { title: 'A task' } });
    expect(lines).toEqual([
      [
        'info',
        'request',
        {
          requestId: answer.headers['X-Request-Id'],
          route: 'POST /api/kanban-tasks',
          method: 'POST',
          path: '/api/kanban-tasks',
          status: 201,
          durationMs: expect.any(Number),
          organization: board.organization,
          tokenId: readToken(board.token)?.id,
        },
      ],
    ]);
  });

  it('has the route without the id, and the code of an error', async () => {
    const answer = await board.updateTask({ params: { id: absent }, body: { title: 't' } });
    expect(lines).toHaveLength(1);
    expect(lines[0]?.[2]).toMatchObject({
      requestId: errorOf(answer).requestId,
      route: 'PATCH /api/kanban-tasks/:id',
      status: 404,
      code: 'not_found',
      tokenId: readToken(board.token)?.id,
    });
  });

  it('has a line without organization and token id for a request without a token', async () => {
    await board.listTasks({ token: undefined });
    expect(lines).toHaveLength(1);
    expect(lines[0]?.[2]).toMatchObject({ route: 'GET /api/kanban-tasks', status: 401, code: 'unauthorized' });
    expect(lines[0]?.[2].tokenId).toBeUndefined();
  });

  it('has the token id if the token does not have the scope', async () => {
    const { listTasks, token } = await newTaskCaller(['agents:read']);
    await listTasks();
    expect(lines[0]?.[2]).toMatchObject({ status: 403, tokenId: readToken(token)?.id });
  });

  it('has a line for a replayed request', async () => {
    const headers = { 'Idempotency-Key': 'once' };
    await board.createTask({ body: { title: 't' }, headers });
    await board.createTask({ body: { title: 't' }, headers });
    expect(lines.map(([, , line]) => line.status)).toEqual([201, 201]);
  });

  it('has a line for a request that matches no endpoint', async () => {
    await call(unmatched, { method: 'POST', path: '/nothing' });
    expect(lines).toHaveLength(1);
    expect(lines[0]?.[2]).toMatchObject({ route: '$default', method: 'POST', path: '/nothing', status: 404 });
  });

  it('has an error line with the error for an internal error', async () => {
    const error = new Error('internal details');
    failRequests(processContext().table, '#T"', error);
    await board.getTask({ params: { id: absent } });
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject(['error', 'request', { status: 500, error }]);
  });

  it.each([
    ['a create', 201, { title: 'private words' }],
    ['an invalid create', 400, { title: 'private words', privateWords: 'private words' }],
    ['broken JSON', 400, '{"title":"private words"'],
    ['a dependency that does not exist', 422, { title: 'private words', dependsOn: [absent] }],
  ])('never has the token or the text of %s', async (_, status, body) => {
    const answer = await board.createTask({ body, headers: { 'Idempotency-Key': 'private-key' } });
    expect(answer.status).toBe(status);
    const logged = JSON.stringify(lines);
    expect(logged).not.toContain(board.token);
    expect(logged).not.toContain(readToken(board.token)?.secret);
    expect(logged).not.toMatch(/private/i);
  });

  it('never has the text of a create that fails with an internal error', async () => {
    const { token } = board;
    const sameId = { ...processContext(), ulid: () => '01K00000000000000000000000' };
    const create = serve(
      createTask,
      ({ body, caller, recordResponse }, context) =>
        tasks.createTask(context, caller.organization, body, recordResponse),
      () => sameId,
    );
    const sent = { method: 'POST', path: '/api/kanban-tasks', body: { title: 'private words' }, token };
    expect((await call(create, sent)).status).toBe(201);
    expect((await call(create, sent)).status).toBe(500);
    expect(inspect(lines, { depth: 10 })).not.toContain('private');
  });

  it('never has an invalid token', async () => {
    const token = `${board.token.slice(0, -1)}-`;
    await board.listTasks({ token });
    expect(JSON.stringify(lines)).not.toContain(token);
  });

  it('never has the query', async () => {
    await board.listTasks({ query: 'assigned_agent=private-words' });
    expect(JSON.stringify(lines)).not.toContain('private');
  });

  it('has the duration in milliseconds, rounded to one decimal place', () => {
    const request = { event: eventOf({}), response: { statusCode: 200 } } as unknown as Request;
    const { requestStart, requestEnd } = requestLog('GET /');
    const now = vi.spyOn(performance, 'now').mockReturnValue(1_000);
    requestStart(request);
    now.mockReturnValue(1_012.34);
    requestEnd(request);
    expect(lines[0]?.[2].durationMs).toBe(12.3);
  });
});
