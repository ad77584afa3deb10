import { inBatches } from '../../aws/in-batches.ts';
import { timeOf } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import type { EventName } from '../../contract/webhooks/events.ts';
import type { BatchingContext } from '../access/batchers.ts';
import type { Table } from '../access/client.ts';
import { keys } from '../access/keys.ts';
import { readRange } from '../access/reads.ts';
import { matchesFilter, type TaskFields, type TaskFilterChange } from './task-filters.ts';

/** The event of an organization whose subscribers are read. */
type SubscribedEvent = { organization: Organization; event: EventName };

/**
 * A webhook that is subscribed to an event: its id, the Unix time in ms from which it is subscribed, and its filters if it
 * has had one.
 */
export type Subscriber = { id: string; since: number; taskFilters?: readonly TaskFilterChange[] };

declare module '../access/batchers.ts' {
  interface Batchers {
    readSubscribers?: (event: SubscribedEvent) => Promise<Subscriber[]>;
  }
}

/**
 * Returns the webhooks that are subscribed to an event, strongly consistent. The calls of one turn of the event loop share
 * one read, which begins after all of them: it returns every webhook that was subscribed before a call.
 */
export function readSubscribers(
  { table, batchers }: BatchingContext,
  organization: Organization,
  event: EventName,
): Promise<Subscriber[]> {
  batchers.readSubscribers ??= inBatches(
    Number.POSITIVE_INFINITY,
    (events: SubscribedEvent[]) => Promise.all(events.map((one) => querySubscribers(table, one))),
    (one) => `${one.organization} ${one.event}`,
  );
  return batchers.readSubscribers({ organization, event });
}

async function querySubscribers(table: Table, { organization, event }: SubscribedEvent): Promise<Subscriber[]> {
  const items = await readRange(table, { pk: keys.subscriptions(organization, event) });
  return items.map(({ sk, since, taskFilters }) => ({
    id: `wh_${sk}`,
    // A webhook is subscribed from its registration, unless the event was added later.
    since: since === undefined ? timeOf(sk as string) : Date.parse(since as string),
    ...(taskFilters !== undefined && { taskFilters: taskFilters as TaskFilterChange[] }),
  }));
}

/**
 * Returns whether a webhook receives an event: it was subscribed at the time of the event, its filter at that time lets the
 * event pass, and the event is not about the webhook itself.
 *
 * @param item the id of what the event is about
 * @param at the time of the event, see `subscribedTimeOf` (Unix time, in ms)
 * @param readTask returns the fields of the event's task; `undefined` for an event without a task
 */
export function receives(
  { id, since, taskFilters }: Subscriber,
  item: string,
  at: number,
  readTask: () => TaskFields | undefined,
): boolean {
  return id !== item && since <= at && matchesFilter(taskFilters, at, readTask);
}
