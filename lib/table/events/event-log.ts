import { timeOf, ulidFrom, ulidOf } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import type { EventName } from '../../contract/webhooks/events.ts';
import { tableSchema } from '../../names/table-schema.ts';
import { type BatchingContext, putInBatch } from '../access/batchers.ts';
import type { TableContext } from '../access/client.ts';
import { keys, organizationOf } from '../access/keys.ts';
import { getItem, queryItems } from '../access/reads.ts';
import type { Item } from '../access/write.ts';
import { historyExpiry } from '../lists/history-days.ts';
import type { TaskFields } from '../webhooks/task-filters.ts';

/** An event in the log, which keeps events for 90 days, with and without subscribers. */
export type LoggedEvent = {
  organization: Organization;
  /** `ev_` and a ULID of the time of the change. */
  id: string;
  event: EventName;
  /** The changed item: its id, and its version after the change. */
  item: string;
  version: number;
  /**
   * The time of the change by the clock of the log (Unix time, in ms), if it is not the time of the id: after a step back of the
   * clock (docs/architecture.md#clocks).
   */
  logTime?: number;
  /**
   * Whether it is listed for followers as a late one (`late-events.ts`), so that it is not listed again when its change is read
   * again; only where one process owns the logs.
   */
  listed?: true;
  /** The request that made the change, if it is known. */
  requestId?: string;
  /** The event's `data` as JSON: unlike a map of DynamoDB, text keeps the order of the fields. */
  data: string;
  /** The fields of the task of an agent event, which its data does not have; absent without a task. */
  taskFields?: TaskFields;
};

/** The part of an event that is sent, with `data` as JSON. */
export type EventToSend = Pick<LoggedEvent, 'event' | 'data' | 'logTime'>;

/**
 * Returns the time of an event that decides which webhooks receive it (Unix time, in ms): subscriptions, filters and pauses
 * have times of the same clock.
 */
export function subscribedTimeOf({ id, logTime }: Pick<LoggedEvent, 'id' | 'logTime'>): number {
  return logTime ?? timeOf(ulidOf(id));
}

/** Returns the item of an event. The same event always has the same item. */
export function eventItem({ organization, id, ...rest }: LoggedEvent): Item {
  const ulid = ulidOf(id);
  return {
    ...keys.event(organization, ulid),
    ...rest,
    [tableSchema.expiry]: historyExpiry(timeOf(ulid)),
  };
}

/** Returns the event of an item. */
export function eventFrom(item: Item): LoggedEvent {
  const { pk, sk, due, dueAt, expiresAt, ...rest } = item;
  return { organization: organizationOf(pk as string), id: `ev_${sk}`, ...rest } as LoggedEvent;
}

/** A range of the event log: from a ULID (excluded), or from a time, to a time (both included; Unix times, in ms). */
export type EventRange = { after: string; to: number } | { from: number; to: number };

/** Yields the events of an organization in a range, oldest first. Pages are read when they are needed. */
export async function* readEventsInOrder(
  { table }: TableContext,
  organization: Organization,
  range: EventRange,
): AsyncGenerator<LoggedEvent> {
  const from = 'after' in range ? `${range.after}!` : ulidFrom(range.from, new Uint8Array(10));
  const to = ulidFrom(range.to, new Uint8Array(10).fill(255));
  if (from > to) return;
  const items = queryItems(table, { pk: keys.events(organization), from, to, ascending: true });
  for await (const item of items) yield eventFrom(item);
}

/** Returns whether an item is an event. Earlier versions listed one of 32 events in the sweeper's index. */
export function isEvent({ pk }: Item): boolean {
  return pk === keys.events(organizationOf(pk as string));
}

/** Returns the fields of the task of an event, at the time of the event; `undefined` for an event without a task. */
export function taskFieldsOfEvent({ taskFields, data }: LoggedEvent): TaskFields | undefined {
  return taskFields ?? (JSON.parse(data) as { task?: TaskFields }).task;
}

/** Appends an event to the log of its organization. An event that the log already has is not changed. */
export function appendEvent(context: BatchingContext, event: LoggedEvent): Promise<void> {
  return putInBatch(context, eventItem(event));
}

/** Returns an event, strongly consistent; `undefined` if the log does not have it. */
export async function readEvent(
  { table }: TableContext,
  organization: Organization,
  id: string,
): Promise<LoggedEvent | undefined> {
  const item = await getItem(table, keys.event(organization, ulidOf(id)));
  return item && eventFrom(item);
}

/** Yields the events of an organization between two times, both included (Unix time, in ms); newest first. */
export async function* readEvents(
  { table }: TableContext,
  organization: Organization,
  from: number,
  to: number,
): AsyncGenerator<LoggedEvent> {
  const range = {
    pk: keys.events(organization),
    from: ulidFrom(from, new Uint8Array(10)),
    to: ulidFrom(to, new Uint8Array(10).fill(255)),
  };
  for await (const item of queryItems(table, range)) yield eventFrom(item);
}
