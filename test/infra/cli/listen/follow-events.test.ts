import { describe, expect, it } from 'vitest';
import { type Following, followByRequests } from '../../../../infra/cli/listen/follow-events.ts';
import { CommandFailure } from '../../../../infra/cli/run-program.ts';
import { type Client, CrewboardError } from '../../../../lib/client/client.ts';
import type { Event } from '../../../../lib/client/operations.ts';
import { timestamp, ulidFrom } from '../../../../lib/contract/ids.ts';
import type { EventName } from '../../../../lib/contract/webhooks/events.ts';

const opening = Date.parse('2026-03-01T12:00:00.000Z');

function eventAt(seconds: number, event: EventName = 'task.created'): Event {
  const id = `ev_${ulidFrom(opening + seconds * 1_000, new Uint8Array(10))}`;
  const occurredAt = timestamp(opening + seconds * 1_000);
  return { id, event, occurredAt, data: { task: { id: 'tk_1', title: 'A task', status: 'backlog' }, occurredAt } };
}

type Query = Record<string, unknown>;
type Reply = Event[] | Error;

/**
 * Follows a service that gives these replies in turn, each with the position `next-<n>`, until there are no more. Returns
 * the yielded events, the queries, and what else has happened.
 */
async function follow(replies: Reply[], options: Partial<Following> = {}) {
  const queries: Query[] = [];
  const notes: string[] = [];
  const stopping = new AbortController();
  const listEvents: Client['listEvents'] = async ({ query = {} } = {}) => {
    queries.push(query as Query);
    const reply = replies.shift();
    if (!reply) stopping.abort();
    if (!reply || reply instanceof Error) throw reply ?? new Error('aborted');
    const pagination = { limit: 100, next: `next-${queries.length}` };
    return { data: reply, pagination, etag: undefined, replayed: false, requestId: undefined };
  };
  const seen: Event[] = [];
  const following = followByRequests({
    connect: () => {
      notes.push('connect');
      return { listEvents };
    },
    ...{ replayMs: 3_600_000, clock: () => opening, signal: stopping.signal },
    wait: async (ms) => void notes.push(ms === 1_000 ? 'poll' : 'back off'),
    onReady: () => notes.push('ready'),
    onLost: ({ message }) => notes.push(`lost: ${message}`),
    onFound: () => notes.push('found'),
    ...options,
  });
  for await (const event of following) seen.push(event);
  return { seen: seen.map(({ id }) => id), queries, notes };
}

const idsOf = (...events: Event[]) => events.map(({ id }) => id);
const lost = (status: number) => new CrewboardError(status, { code: 'unavailable', message: `status ${status}` });

describe('a follower of the log', () => {
  it('continues with next, and waits only after an empty page', async () => {
    const [one, two, three] = [eventAt(1), eventAt(2), eventAt(3)];
    const { seen, queries, notes } = await follow([[one, two], [], [three]]);
    expect(seen).toEqual(idsOf(one, two, three));
    const begun = `ev_${ulidFrom(opening - 3_600_000, new Uint8Array(10))}`;
    expect(queries.map(({ after }) => after)).toEqual([begun, 'next-1', 'next-2', 'next-3']);
    expect(notes).toEqual(['connect', 'ready', 'poll']);
  });

  it('without a replay begins shortly before the newest event, and skips the existing events', async () => {
    const [old, other, another] = [eventAt(1), eventAt(0.9), eventAt(2)];
    const { seen, queries } = await follow([[old], [other, old, another]], { replayMs: 0 });
    expect(seen).toEqual(idsOf(other, another));
    expect(queries.map(({ after }) => after)).toEqual([undefined, eventAt(-1).id, 'next-2']);
    const empty = await follow([[], [old]], { replayMs: 0 });
    expect(empty.seen).toEqual([old.id]);
    expect(empty.queries[1]?.after).toBe(`ev_${'0'.repeat(26)}`);
  });

  it('yields an event once that comes again', async () => {
    const [one, two] = [eventAt(1), eventAt(2)];
    expect((await follow([[one, two], [one], [two, one]])).seen).toEqual(idsOf(one, two));
  });

  it('sends one name of an event and the task as filters, and compares several names itself', async () => {
    const [created, failed, done] = [eventAt(1), eventAt(2, 'agent.failed'), eventAt(3, 'task.completed')];
    const several = await follow([[created, failed, done]], { events: ['task.completed', 'agent.failed'] });
    expect(several.seen).toEqual(idsOf(failed, done));
    expect(several.queries[0]?.event).toBeUndefined();
    const one = await follow([[done]], { events: ['task.completed'], task: 'tk_1' });
    expect(one.queries[0]).toMatchObject({ event: 'task.completed', task_id: 'tk_1', limit: 100 });
  });

  it('requests the same page again after a lost connection, with a new client, and says so once', async () => {
    const [one, two] = [eventAt(1), eventAt(2)];
    const replies = [[one], lost(0), new CommandFailure('unreachable'), lost(503), lost(429), [two]];
    const { seen, queries, notes } = await follow(replies);
    expect(seen).toEqual(idsOf(one, two));
    expect(queries.slice(1, 6).map(({ after }) => after)).toEqual(Array(5).fill('next-1'));
    const again = ['back off', 'connect'];
    expect(notes).toEqual(['connect', 'ready', 'lost: status 0', ...again, ...again, ...again, ...again, 'found']);
  });

  it.each([
    ['the first request', [lost(0)]],
    ['a token that was revoked', [[], lost(401)]],
  ])('fails by the error of %s', async (_, replies) => {
    await expect(follow(replies)).rejects.toThrow(/^status/);
  });

  it('ends when it is stopped, also within a page', async () => {
    const stopping = new AbortController();
    const events = followByRequests({
      connect: () => ({
        listEvents: async () => ({
          ...{ data: [eventAt(1), eventAt(2)], pagination: { limit: 100, next: 'next' } },
          ...{ etag: undefined, replayed: false, requestId: undefined },
        }),
      }),
      ...{ replayMs: 1, clock: () => opening, signal: stopping.signal },
      ...{ wait: async () => {}, onReady: () => {}, onLost: () => {}, onFound: () => {} },
    });
    expect((await events.next()).value?.id).toBe(eventAt(1).id);
    stopping.abort();
    expect(await events.next()).toEqual({ done: true, value: undefined });
  });
});
