import type { Client } from '../../client/client.ts';
import type { Event, Operations } from '../../client/operations.ts';

/** Where to continue in the event log, and the ids of events that were read before, which the log can list again. */
export type Position = { after: string; known: ReadonlySet<string> };

/** The filters of the event log, as the API takes them. */
type Filters = Omit<NonNullable<Operations['listEvents']['request']['query']>, 'after' | 'before' | 'limit'>;

/** The number of events that a request reads: the maximum of the API. */
const pageSize = 100;

/** How far before the newest event a follower begins: events of the same moment may not be published yet. In milliseconds. */
const beginsBeforeMs = 2_000;

/**
 * Returns a position that all events have after them which are not in the log yet. A list that is read after this call, and
 * the events after this position, together have every event.
 */
export async function readPosition(client: Pick<Client, 'listEvents'>, signal: AbortSignal): Promise<Position> {
  // `next` of this list leads to older events, so it is no position to continue at.
  const { data } = await client.listEvents({ query: { limit: pageSize }, signal });
  const newest = data[0] ? Date.parse(data[0].occurredAt) : 0;
  return { after: positionAt(newest - beginsBeforeMs), known: new Set(data.map(({ id }) => id)) };
}

/**
 * Reads the next page of events after a position, and returns the new ones, oldest first, with the position after the page.
 * That is `next` of the page: an event that is published late has an older id than its position.
 */
export async function readAfter(
  client: Pick<Client, 'listEvents'>,
  { after, known }: Position,
  filters: Filters,
  signal: AbortSignal,
): Promise<{ events: Event[]; after: string; isFull: boolean }> {
  const { data, pagination } = await client.listEvents({ query: { ...filters, after, limit: pageSize }, signal });
  return {
    events: data.filter(({ id }) => !known.has(id)),
    after: pagination.next ?? after,
    isFull: data.length === pageSize && pagination.next !== null,
  };
}

/** The digits of ids, in base 32. */
const digits = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** Returns the first position of a time (Unix time, in ms). Ids begin with their time in ten digits. */
function positionAt(time: number): string {
  let text = '';
  for (let rest = Math.max(time, 0); text.length < 10; rest = Math.floor(rest / 32)) text = digits[rest % 32] + text;
  return `ev_${text}${'0'.repeat(16)}`;
}
