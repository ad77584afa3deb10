import { describe, expect, it } from 'vitest';
import { createClient } from '../../../../../lib/client/client.ts';
import type { TaskListItem } from '../../../../../lib/client/operations.ts';
import {
  type Action,
  carryOut,
  reasonOf,
  retryAfterMs,
  textsOf,
} from '../../../../../lib/console/screens/board/selection/actions.ts';
import { closeFor, type Gate } from '../../../../../lib/console/screens/board/selection/run-many.ts';

const seen: TaskListItem = {
  id: 'tk_1',
  title: 'Draw the map',
  status: 'backlog',
  priority: 'low',
  dependsOn: [],
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
};

const move: Action = { kind: 'change', patch: { status: 'done' } };

const answer = (data: object) => new Response(JSON.stringify({ success: true, data }), { headers: { ETag: '"7"' } });

const refuse = (status: number, code: string, headers = {}) =>
  new Response(JSON.stringify({ success: false, error: { code, message: `The answer is ${code}.` } }), {
    status,
    headers,
  });

/** Carries out an action with these responses. Returns the requests, and the error if there is one. */
async function carryOutWith(action: Action, ...responses: Response[]) {
  const sent: string[] = [];
  const waits: number[] = [];
  let now = 0;
  const gate: Gate = {
    opensAt: 0,
    now: () => now,
    stopped: new AbortController().signal,
    sleep: async (milliseconds) => {
      waits.push(milliseconds);
      now += milliseconds;
    },
  };
  const client = createClient({
    url: 'http://127.0.0.1',
    token: 'crew_token',
    wait: (milliseconds) => closeFor(gate, milliseconds),
    fetch: async (_, init) => {
      const match = new Headers(init?.headers).get('If-Match');
      sent.push(`${init?.method}${match ? ` if ${match}` : ''}`);
      return responses.shift() ?? expect.fail('There is no response left.');
    },
  });
  const error = await carryOut(client, gate, action, seen).then(
    () => undefined,
    (error: unknown) => error,
  );
  return { sent, waits, error };
}

describe('an action on one of several tasks', () => {
  it.each([
    ['changes', move, 'PATCH if "7"'],
    ['deletes', { kind: 'delete' } as const, 'DELETE if "7"'],
  ])('%s the version that the user has seen', async (_, action, second) => {
    const { sent, error } = await carryOutWith(action, answer(seen), answer({}));
    expect([sent, error]).toEqual([['GET', second], undefined]);
  });

  it('changes nothing that is as the user wants it', async () => {
    const unassigned = { kind: 'change', patch: { assignedAgent: null } } as const;
    expect((await carryOutWith(unassigned, answer(seen))).sent).toEqual(['GET']);
    expect(await carryOutWith({ kind: 'delete' }, refuse(404, 'not_found'))).toMatchObject({ error: undefined });
  });

  it.each([
    [
      'was changed before',
      [answer({ ...seen, updatedAt: '2026-01-02T00:00:00.000Z' })],
      'It was changed in the meantime.',
    ],
    ['is changed between', [answer(seen), refuse(412, 'precondition_failed')], 'It was changed in the meantime.'],
    ['is deleted', [refuse(404, 'not_found')], 'It no longer exists.'],
    ['is claimed', [answer(seen), refuse(409, 'task_claimed', { 'Retry-After': '60' })], 'The answer is task_claimed.'],
  ])('says why if the task %s', async (_, responses, reason) => {
    const { error } = await carryOutWith(move, ...responses);
    expect(reasonOf(error)).toContain(reason);
    expect(retryAfterMs(error)).toBeUndefined();
  });

  it('lets all tasks wait when the limit of requests is reached, and goes on', async () => {
    const limited = () => refuse(429, 'rate_limited', { 'Retry-After': '9' });
    const { sent, waits, error } = await carryOutWith(move, limited(), answer(seen), limited(), answer({}));
    expect(sent).toEqual(['GET', 'GET', 'PATCH if "7"', 'PATCH if "7"']);
    expect([waits, error]).toEqual([[9_000, 9_000], undefined]);
  });

  it('is repeated if the service is busy, but not after more than two minutes', async () => {
    const busy = (seconds: string) => refuse(503, 'unavailable', { 'Retry-After': seconds });
    expect(retryAfterMs((await carryOutWith(move, answer(seen), busy('2'))).error)).toBe(2_000);
    expect(retryAfterMs((await carryOutWith(move, answer(seen), busy('121'))).error)).toBeUndefined();
  });

  it('is named by what it does', () => {
    const done = (action: Action) => textsOf(action).done;
    expect(done(move)).toBe('moved to Done');
    expect(done({ kind: 'change', patch: { priority: 'high' } })).toBe('given the priority high');
    expect(done({ kind: 'change', patch: { assignedAgent: 'writer' } })).toBe('assigned to writer');
    expect(done({ kind: 'change', patch: { assignedAgent: null } })).toBe('unassigned');
    expect(done({ kind: 'delete' })).toBe('deleted');
  });
});
