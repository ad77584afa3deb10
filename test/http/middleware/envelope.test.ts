import * as v from 'valibot';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { handler as health } from '../../../functions/open/health.ts';
import { handler as unmatched } from '../../../functions/open/unmatched.ts';
import { processContext } from '../../../lib/context/context.ts';
import { pick } from '../../../lib/contract/shapes.ts';
import { errorOf } from '../../api.ts';
import { createTaskCallers } from '../../functions/kanban-tasks/task-caller.ts';
import { call, eventOf } from '../../service.ts';
import { failRequests } from '../fail-requests.ts';

const { newTaskCaller } = await createTaskCallers();
const board = await newTaskCaller();
const absent = 'tk_01K00000000000000000000000';
const own = { 'X-Request-Id': 'chosen-by-the-caller' };

afterEach(() => vi.restoreAllMocks());

describe('X-Request-Id', () => {
  it.each([
    [400, () => board.createTask({ body: {}, headers: own })],
    [401, () => board.listTasks({ token: 'x', headers: own })],
    [404, () => board.getTask({ params: { id: absent }, headers: own })],
    [405, () => call(unmatched, { method: 'PUT', path: '/health', headers: own })],
  ])('is the requestId of the error body on a %i, and not chosen by the caller', async (status, send) => {
    const answer = await send();
    expect([answer.status, errorOf(answer).requestId]).toEqual([status, answer.headers['X-Request-Id']]);
    expect(errorOf(answer).requestId).not.toBe(own['X-Request-Id']);
  });

  it('is the id in the request context of the event', async () => {
    const event = eventOf({ path: '/health' });
    const answer = await health(event, { getRemainingTimeInMillis: () => 29_000 } as never);
    expect(answer.headers?.['X-Request-Id']).toBe(event.requestContext.requestId);
  });
});

it('responses forbid caching and guessing of their type', async () => {
  for (const answer of [await board.listTasks(), await board.getTask({ params: { id: absent } })])
    expect(answer.headers).toMatchObject({ 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' });
});

it('an error response has exactly success and error, and details only if there are any', async () => {
  const answer = await board.getTask({ params: { id: absent } });
  expect(Object.keys(answer.body)).toEqual(['success', 'error']);
  expect(Object.keys(errorOf(answer))).toEqual(['code', 'message', 'requestId']);
  const detailed = errorOf(await board.createTask({ body: {} }));
  expect(Object.keys(detailed).sort()).toEqual(['code', 'details', 'message', 'requestId']);
  expect(Object.keys(detailed.details?.[0] ?? {}).sort()).toEqual(['code', 'message', 'path']);
});

describe('an internal error', () => {
  it.each([
    ['an error', new Error('connect ECONNREFUSED 10.0.0.7 with password hunter2')],
    ['an error of the SDK', Object.assign(new Error('hunter2'), { name: 'ValidationException', $metadata: {} })],
    ['a text', 'hunter2'],
  ])('leads to 500 internal_error without the text of %s', async (_, thrown) => {
    failRequests(processContext().table, '#T"', thrown);
    const answer = await board.getTask({ params: { id: absent } });
    expect(answer.status).toBe(500);
    expect(Object.keys(errorOf(answer))).toEqual(['code', 'message', 'requestId']);
    expect(errorOf(answer).code).toBe('internal_error');
    expect(JSON.stringify(answer)).not.toMatch(/hunter2|ECONNREFUSED|Exception|\.ts/);
  });

  it('in the read of a token leads to the same', async () => {
    const reader = await newTaskCaller();
    failRequests(processContext().table, 'TOK#', new Error('hunter2'));
    const answer = await reader.listTasks();
    expect(answer.status).toBe(500);
    expect(JSON.stringify(answer)).not.toContain('hunter2');
  });
});

const of = v.array(v.object({ name: v.string() }));
const schema = v.object({ id: v.string(), of, note: v.optional(v.string()) });

it('pick returns only the declared fields that are set, in their order, at every depth', () => {
  const value = { secret: 1, of: [{ name: 'n', secret: 2 }], version: 3, id: 'x', note: 'y' };
  expect(JSON.stringify(pick(schema, value))).toBe('{"id":"x","of":[{"name":"n"}],"note":"y"}');
  expect(JSON.stringify(pick(schema, { id: 'x', of: [] }))).toBe('{"id":"x","of":[]}');
});
