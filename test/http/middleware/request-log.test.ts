import { inspect } from 'node:util';
import type { Request } from '@middy/core';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { handler as unmatched } from '../../../functions/open/unmatched.ts';
import { processContext } from '../../../lib/context/context.ts';
import { createTask } from '../../../lib/contract/tasks/tasks.ts';
import { requestLog } from '../../../lib/http/middleware/request-log.ts';
import { serve } from '../../../lib/http/serve.ts';
import { readToken } from '../../../lib/http/token.ts';
import * as tasks from '../../../lib/tasks/tasks.ts';
import { createTaskCallers, type TaskCaller } from '../../functions/kanban-tasks/task-caller.ts';
import { type Answer, call, eventOf } from '../../service.ts';
import { failRequests } from '../fail-requests.ts';

const { newTaskCaller } = await createTaskCallers();
const absent = 'tk_01K00000000000000000000000';

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

const tokenIdOf = ({ token }: TaskCaller) => readToken(token)?.id;

describe('the log', () => {
  it('has one line for each request, with route, status, requestId, organization and token id', async () => {
    const answer = await board.createTask({ body: { title: 'A task' } });
    const fields = {
      ...{ requestId: answer.headers['X-Request-Id'], route: 'POST /api/kanban-tasks', method: 'POST' },
      ...{ path: '/api/kanban-tasks', status: 201, durationMs: expect.any(Number) },
      ...{ organization: board.organization, tokenId: tokenIdOf(board) },
    };
    expect(lines).toEqual([['info', 'request', fields]]);
  });

  it.each<[string, (id?: string) => object, () => Promise<Answer>]>([
    [
      'the route without the id, and the code of an error',
      (tokenId) => ({ route: 'PATCH /api/kanban-tasks/:id', status: 404, code: 'not_found', tokenId }),
      () => board.updateTask({ params: { id: absent }, body: { title: 't' } }),
    ],
    [
      'no token id for a request without a token',
      () => ({ route: 'GET /api/kanban-tasks', status: 401, code: 'unauthorized', tokenId: undefined }),
      () => board.listTasks({ token: undefined }),
    ],
    [
      'the token id if the token does not have the scope',
      (tokenId) => ({ status: 403, tokenId }),
      async () => {
        board = await newTaskCaller(['agents:read']);
        return board.listTasks();
      },
    ],
    [
      'the route $default for a request that matches no endpoint',
      () => ({ route: '$default', method: 'POST', path: '/nothing', status: 404 }),
      () => call(unmatched, { method: 'POST', path: '/nothing' }),
    ],
  ])('has %s', async (_, fields, send) => {
    const answer = await send();
    expect(lines).toHaveLength(1);
    const requestId = answer.headers['X-Request-Id'];
    expect({ tokenId: undefined, ...lines[0]?.[2] }).toMatchObject({ ...fields(tokenIdOf(board)), requestId });
  });

  it('has a line for a replayed request', async () => {
    const headers = { 'Idempotency-Key': 'once' };
    for (const _ of ['once', 'again']) await board.createTask({ body: { title: 't' }, headers });
    expect(lines.map(([, , line]) => line.status)).toEqual([201, 201]);
  });

  it('has an error line with the error for an internal error', async () => {
    const error = new Error('internal details');
    failRequests(processContext().table, '#T"', error);
    await board.getTask({ params: { id: absent } });
    expect(lines).toMatchObject([['error', 'request', { status: 500, error }]]);
  });

  it.each([
    ['a create', 201, { title: 'private words' }],
    ['an invalid create', 400, { title: 'private words', privateWords: 'private words' }],
    ['broken JSON', 400, '{"title":"private words"'],
    ['a dependency that does not exist', 422, { title: 'private words', dependsOn: [absent] }],
  ])('never has the token, the query or the text of %s', async (_, status, body) => {
    const answer = await board.createTask({ body, headers: { 'Idempotency-Key': 'private-key' } });
    expect(answer.status).toBe(status);
    await board.listTasks({ query: 'assigned_agent=private-words' });
    const invalid = `${board.token.slice(0, -1)}-`;
    await board.listTasks({ token: invalid });
    expect(lines).toHaveLength(3);
    const logged = JSON.stringify(lines);
    for (const secret of [board.token, readToken(board.token)?.secret, invalid]) expect(logged).not.toContain(secret);
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
