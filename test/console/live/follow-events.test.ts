import { describe, expect, it } from 'vitest';
import type { Client } from '../../../lib/client/client.ts';
import type { Event } from '../../../lib/client/operations.ts';
import { readAfter, readPosition } from '../../../lib/console/live/follow-events.ts';
import { timestamp, ulidFrom } from '../../../lib/contract/ids.ts';

const opening = Date.parse('2026-03-01T12:00:00.000Z');
const { signal } = new AbortController();

const idAt = (seconds: number) => `ev_${ulidFrom(opening + seconds * 1_000, new Uint8Array(10))}`;

function eventAt(seconds: number): Event {
  const occurredAt = timestamp(opening + seconds * 1_000);
  const task = { id: 'tk_1', title: 'A task', status: 'backlog' } as const;
  return { id: idAt(seconds), event: 'task.created', occurredAt, data: { task, occurredAt } };
}

/** Returns a client that answers with these pages in turn, and the queries that it gets. */
function pages(...answers: { data: Event[]; next: string | null }[]) {
  const queries: unknown[] = [];
  const listEvents: Client['listEvents'] = async ({ query } = {}) => {
    queries.push(query);
    const { data = [], next = null } = answers.shift() ?? {};
    return { data, pagination: { limit: 100, next }, etag: undefined, replayed: false, requestId: undefined };
  };
  return { client: { listEvents }, queries };
}

describe('the follower of the event log in the console', () => {
  it('continues with next after an event that was published late, whose id is older', async () => {
    const [late, next] = [eventAt(-3_600), idAt(1)];
    const { client, queries } = pages({ data: [late], next });
    const read = await readAfter(client, { after: idAt(0), known: new Set() }, { event: 'task.created' }, signal);
    expect(read).toEqual({ events: [late], after: next, isFull: false });
    expect(queries).toEqual([{ event: 'task.created', after: idAt(0), limit: 100 }]);
  });

  it('returns an event once that is listed again, and stays where it is without next', async () => {
    const [one, two] = [eventAt(1), eventAt(2)];
    const { client } = pages({ data: [one, two], next: null });
    const read = await readAfter(client, { after: idAt(0), known: new Set([one.id]) }, {}, signal);
    expect(read).toEqual({ events: [two], after: idAt(0), isFull: false });
  });

  it('begins shortly before the newest event, not at next of the list, which leads back', async () => {
    const [newest, older] = [eventAt(10), eventAt(9)];
    const { client, queries } = pages({ data: [newest, older], next: older.id }, { data: [], next: null });
    expect(await readPosition(client, signal)).toEqual({ after: idAt(8), known: new Set([newest.id, older.id]) });
    expect(await readPosition(client, signal)).toEqual({ after: `ev_${'0'.repeat(26)}`, known: new Set() });
    expect(queries).toEqual([{ limit: 100 }, { limit: 100 }]);
  });
});
