import { describe, expect, it } from 'vitest';
import { handler as unmatched } from '../../functions/open/unmatched.ts';
import { processContext } from '../../lib/context/context.ts';
import type { ErrorCode } from '../../lib/contract/errors.ts';
import { readToken } from '../../lib/http/token.ts';
import { revokeStoredToken } from '../../lib/table/organizations/tokens.ts';
import type { Request } from '../api.ts';
import { createTaskCallers, type TaskCaller } from '../functions/kanban-tasks/task-caller.ts';
import { type Answer, call } from '../service.ts';

const { newTaskCaller } = await createTaskCallers();
const absent = { id: 'tk_01K00000000000000000000000' };
const malformed = { id: 'malformed' };
const big = 'x'.repeat(300 * 1024);
const text = { 'Content-Type': 'text/plain' };
const otherVersion = { 'If-Match': '"2"' };
const malformedKey = { 'Idempotency-Key': 'a b' };
const usedKey = { 'Idempotency-Key': 'once' };
const dependent = { title: 't', dependsOn: [absent.id] };

type Send = (board: TaskCaller, id: string) => Promise<Answer>;
const create =
  (request: Request): Send =>
  (board) =>
    board.createTask(request);
const update =
  (request: Request): Send =>
  (board, id) =>
    board.updateTask({ params: { id }, ...request });

/**
 * The order of checks (docs/architecture.md#order-of-checks). Each request fails two checks; the first one determines
 * the response. A write that fails changes nothing.
 */
describe('the order of checks', () => {
  it('puts 404 and 405 before 401', async () => {
    expect((await call(unmatched, { path: '/api/nothing' })).status).toBe(404);
    expect((await call(unmatched, { method: 'PUT', path: '/api/kanban-tasks' })).status).toBe(405);
  });

  it('puts 401 before 403: a revoked token that lacks the scope', async () => {
    const board = await newTaskCaller(['agents:read']);
    await revokeStoredToken(processContext(), readToken(board.token)?.id as string, new Date().toISOString());
    await board.refuses(() => board.createTask({ body: { title: 't' } }), 401, 'unauthorized');
  });

  it('puts 403 before 404 and 413', async () => {
    const board = await newTaskCaller(['agents:read']);
    await board.refuses(() => board.getTask({ params: absent }), 403, 'insufficient_scope');
    await board.refuses(() => board.createTask({ body: big }), 403, 'insufficient_scope');
  });

  it.each<[number, ErrorCode, string, Send, string?]>([
    [401, 'unauthorized', '413', create({ body: big, token: undefined })],
    [413, 'payload_too_large', '415', create({ body: big, headers: text })],
    [415, 'unsupported_media_type', 'invalid_json', create({ body: '{', headers: text })],
    [400, 'invalid_json', '404', update({ params: malformed, body: '{' })],
    [404, 'not_found', 'an unknown field', update({ params: malformed, body: { colour: 'red' } })],
    [404, 'not_found', 'an unknown parameter', (board) => board.getTask({ params: malformed, query: 'a=b' })],
    [400, 'validation_failed', '404', update({ params: absent, body: { colour: 'red' } })],
    [404, 'not_found', '412', update({ params: absent, body: {}, headers: otherVersion })],
    [404, 'not_found', '412', (board) => board.deleteTask({ params: absent, headers: { 'If-Match': '*' } })],
    [404, 'not_found', '422', update({ params: absent, body: { assignedAgent: 'absent' } })],
    [412, 'precondition_failed', '422', update({ body: { assignedAgent: 'absent' }, headers: otherVersion })],
    [
      ...([422, 'unknown_reference', '409'] as const),
      (board, id) => board.updateTask({ params: { id }, body: { assignedAgent: 'absent', dependsOn: [id] } }),
      'assignedAgent',
    ],
    [400, 'validation_failed', 'a malformed key', create({ body: {}, headers: malformedKey }), 'title'],
    [400, 'validation_failed', '422', create({ body: dependent, headers: malformedKey }), 'Idempotency-Key'],
    [400, 'validation_failed', 'a reused key', create({ body: {}, headers: usedKey })],
    [422, 'idempotency_key_reused', '422', create({ body: dependent, headers: usedKey })],
  ])('puts %i %s before %s', async (status, code, _, send, path) => {
    const board = await newTaskCaller();
    const id = await board.put();
    await board.createTask({ body: { title: 't' }, headers: usedKey });
    const { details } = await board.refuses(() => send(board, id), status, code);
    if (path) expect(details?.[0]).toMatchObject({ path });
  });

  it('puts 412 before 409: another version of a task that others depend on', async () => {
    const board = await newTaskCaller();
    const id = await board.put();
    await board.put({ dependsOn: [id] });
    const send = () => board.deleteTask({ params: { id }, headers: otherVersion });
    await board.refuses(send, 412, 'precondition_failed');
  });
});

it('all errors of query and body are in one 400', async () => {
  const board = await newTaskCaller();
  const body = { title: '', status: 'x', dependsOn: ['y'], colour: 1 };
  const error = await board.refuses(() => board.createTask({ body, query: 'a=b&c=d' }), 400, 'validation_failed');
  const paths = ['a', 'c', 'colour', 'dependsOn.0', 'status', 'title'];
  expect(error.details?.map(({ path }) => path).sort()).toEqual(paths);
});
