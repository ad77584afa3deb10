import { describe, expect, it } from 'vitest';
import { handler as unmatched } from '../../functions/open/unmatched.ts';
import { processContext } from '../../lib/context.ts';
import { readToken } from '../../lib/http/token.ts';
import { revokeStoredToken } from '../../lib/table/tokens.ts';
import { openBoards } from '../functions/kanban-tasks/board.ts';
import { call } from '../service.ts';

const { newBoard } = await openBoards();
const absent = 'tk_01K00000000000000000000000';
const big = 'x'.repeat(300 * 1024);
const text = { 'Content-Type': 'text/plain' };

/**
 * The order of checks (docs/architecture.md#order-of-checks). Each request fails two checks; the first one determines
 * the response.
 */
describe('the order of checks', () => {
  it('puts 404 before 401: an unknown path without a token', async () => {
    const answer = await call(unmatched, { path: '/api/nothing' });
    expect(answer.status).toBe(404);
  });

  it('puts 405 before 401: an unsupported method without a token', async () => {
    const answer = await call(unmatched, { method: 'PUT', path: '/api/kanban-tasks' });
    expect(answer.status).toBe(405);
  });

  it('puts 401 before 403: a revoked token that lacks the scope', async () => {
    const board = await newBoard(['agents:read']);
    await revokeStoredToken(processContext(), readToken(board.token)?.id as string, new Date().toISOString());
    await board.refuses(() => board.createTask({ body: { title: 't' } }), 401, 'unauthorized');
  });

  it('puts 401 before 413: a body of 300 KB without a token', async () => {
    const board = await newBoard();
    await board.refuses(() => board.createTask({ body: big, token: undefined }), 401, 'unauthorized');
  });

  it('puts 403 before 413: a body of 300 KB without the scope', async () => {
    const board = await newBoard(['tasks:read']);
    await board.refuses(() => board.createTask({ body: big }), 403, 'insufficient_scope');
  });

  it('puts 403 before 404: an absent task without the scope', async () => {
    const board = await newBoard(['agents:read']);
    await board.refuses(() => board.getTask({ params: { id: absent } }), 403, 'insufficient_scope');
  });

  it('puts 413 before 415: 300 KB of text', async () => {
    const board = await newBoard();
    await board.refuses(() => board.createTask({ body: big, headers: text }), 413, 'payload_too_large');
  });

  it('puts 415 before invalid_json: broken JSON sent as text', async () => {
    const board = await newBoard();
    await board.refuses(() => board.createTask({ body: '{', headers: text }), 415, 'unsupported_media_type');
  });

  it('puts invalid_json before 404: broken JSON for a malformed id', async () => {
    const board = await newBoard();
    await board.refuses(() => board.updateTask({ params: { id: 'malformed' }, body: '{' }), 400, 'invalid_json');
  });

  it('puts the 404 of a malformed id before 400: an unknown field for it', async () => {
    const board = await newBoard();
    await board.refuses(
      () => board.updateTask({ params: { id: 'malformed' }, body: { colour: 'red' } }),
      404,
      'not_found',
    );
  });

  it('puts the 404 of a malformed id before 400: an unknown query parameter for it', async () => {
    const board = await newBoard();
    await board.refuses(() => board.getTask({ params: { id: 'malformed' }, query: 'a=b' }), 404, 'not_found');
  });

  it('reports all errors of query and body in one 400', async () => {
    const board = await newBoard();
    const send = () =>
      board.createTask({ body: { title: '', status: 'x', dependsOn: ['y'], colour: 1 }, query: 'a=b&c=d' });
    const error = await board.refuses(send, 400, 'validation_failed');
    expect(error.details?.map(({ path }) => path).sort()).toEqual([
      'a',
      'c',
      'colour',
      'dependsOn.0',
      'status',
      'title',
    ]);
  });

  it('cuts the details of a 400 at 20', async () => {
    const board = await newBoard();
    const body = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`field${at}`, at]));
    const error = await board.refuses(() => board.createTask({ body }), 400, 'validation_failed');
    expect(error.details).toHaveLength(20);
  });

  it('puts 400 before a malformed Idempotency-Key: the error of the body comes first', async () => {
    const board = await newBoard();
    const send = () => board.createTask({ body: {}, headers: { 'Idempotency-Key': 'a b' } });
    const error = await board.refuses(send, 400, 'validation_failed');
    expect(error.details?.[0]?.path).toBe('title');
  });

  it('puts 400 before a reused Idempotency-Key', async () => {
    const board = await newBoard();
    const headers = { 'Idempotency-Key': 'once' };
    await board.createTask({ body: { title: 't' }, headers });
    await board.refuses(() => board.createTask({ body: {}, headers }), 400, 'validation_failed');
  });

  it('puts a malformed Idempotency-Key before 422: a dependency that does not exist', async () => {
    const board = await newBoard();
    const send = () =>
      board.createTask({ body: { title: 't', dependsOn: [absent] }, headers: { 'Idempotency-Key': 'a b' } });
    const error = await board.refuses(send, 400, 'validation_failed');
    expect(error.details).toMatchObject([{ path: 'Idempotency-Key', code: 'invalid_value' }]);
  });

  it('puts a reused Idempotency-Key before 422: a dependency that does not exist', async () => {
    const board = await newBoard();
    const headers = { 'Idempotency-Key': 'once' };
    await board.createTask({ body: { title: 't' }, headers });
    const send = () => board.createTask({ body: { title: 't', dependsOn: [absent] }, headers });
    await board.refuses(send, 422, 'idempotency_key_reused');
  });

  it('puts 400 before 404: an unknown field for an absent task', async () => {
    const board = await newBoard();
    await board.refuses(
      () => board.updateTask({ params: { id: absent }, body: { colour: 'red' } }),
      400,
      'validation_failed',
    );
  });

  it('puts 404 before 412: If-Match on an absent task', async () => {
    const board = await newBoard();
    const headers = { 'If-Match': '"1"' };
    await board.refuses(
      () => board.updateTask({ params: { id: absent }, body: { title: 't' }, headers }),
      404,
      'not_found',
    );
    await board.refuses(
      () => board.deleteTask({ params: { id: absent }, headers: { 'If-Match': '*' } }),
      404,
      'not_found',
    );
  });

  it('puts 404 before 422: a dependency that does not exist for an absent task', async () => {
    const board = await newBoard();
    await board.refuses(
      () => board.updateTask({ params: { id: absent }, body: { assignedAgent: 'nobody' } }),
      404,
      'not_found',
    );
  });

  it('puts 412 before 422: another version and an agent that does not exist', async () => {
    const board = await newBoard();
    const id = await board.put();
    const send = () =>
      board.updateTask({ params: { id }, body: { assignedAgent: 'nobody' }, headers: { 'If-Match': '"2"' } });
    await board.refuses(send, 412, 'precondition_failed');
  });

  it('puts 412 before 409: another version of a task that others depend on', async () => {
    const board = await newBoard();
    const id = await board.put();
    await board.put({ dependsOn: [id] });
    await board.refuses(
      () => board.deleteTask({ params: { id }, headers: { 'If-Match': '"2"' } }),
      412,
      'precondition_failed',
    );
  });

  it('puts 422 before 409: an agent that does not exist and a dependency on itself', async () => {
    const board = await newBoard();
    const id = await board.put();
    const send = () => board.updateTask({ params: { id }, body: { assignedAgent: 'nobody', dependsOn: [id] } });
    const error = await board.refuses(send, 422, 'unknown_reference');
    expect(error.details?.map(({ path }) => path)).toEqual(['assignedAgent']);
  });
});
