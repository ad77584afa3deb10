import type { EventName } from '../contract/events.ts';
import { timeOf, timestamp, ulidFrom, ulidOf } from '../contract/ids.ts';
import type { Organization } from '../contract/organization.ts';
import { tableSchema } from '../deployment/table-schema.ts';
import { createBatchedPut } from './batch-writes.ts';
import type { Table } from './client.ts';
import { deliveryPartition } from './delivery-partitions.ts';
import { dueEntry } from './due.ts';
import { historyExpiry } from './history-days.ts';
import { keys, organizationOf } from './keys.ts';
import { queryItems } from './reads.ts';
import type { Item } from './write.ts';

/** An event as it is kept for 90 days, whether any webhook hears it or not. */
export type LoggedEvent = {
  organization: Organization;
  /** `ev_` and a ULID of the time of the change. */
  id: string;
  event: EventName;
  /** The change that it tells of: the id of what was changed, and its version. */
  item: string;
  version: number;
  /** The request that made it, as far as it is known. */
  requestId?: string;
  /** The event's `data` as JSON: text keeps its order, which a map of the table would not. */
  data: string;
};

/** How long after its event a sampled event's deliveries are looked for, in milliseconds. */
export const sampledAfterMs = 2 * 60_000;

/** One event of 32 is listed for the sweeper, which looks whether each webhook has been sent it: by its id, at random. */
const isSampled = (ulid: string) => ulid.endsWith('0');

/** The item that an event is kept as; the same event makes the same item. */
export function eventItem({ organization, id, ...rest }: LoggedEvent): Item {
  const ulid = ulidOf(id);
  const time = timeOf(ulid);
  return {
    ...keys.event(organization, ulid),
    ...rest,
    ...(isSampled(ulid) && dueEntry(deliveryPartition(ulid), timestamp(time + sampledAfterMs))),
    [tableSchema.expiry]: historyExpiry(time),
  };
}

/** The event that an item keeps. */
export function eventFrom(item: Item): LoggedEvent {
  const { pk, sk, due: _, dueAt: __, expiresAt: ___, ...rest } = item;
  return { organization: organizationOf(pk as string), id: `ev_${sk}`, ...rest } as LoggedEvent;
}

/** Whether an item is an event. */
export function isEvent({ pk }: Item): boolean {
  return pk === keys.events(organizationOf(pk as string));
}

/** Opens the event log: every event of an organization once, in the order of time. */
export function openEventLog(table: Table) {
  const put = createBatchedPut(table);

  return {
    /** Appends an event; one that is there already stays as it is. */
    append: (event: LoggedEvent): Promise<unknown> => put(eventItem(event)),

    /** The events of an organization from one moment to another, both included, in milliseconds since 1970; newest first. */
    async *between(organization: Organization, from: number, to: number): AsyncGenerator<LoggedEvent> {
      const range = {
        pk: keys.events(organization),
        from: ulidFrom(from, new Uint8Array(10)),
        to: ulidFrom(to, new Uint8Array(10).fill(255)),
      };
      for await (const item of queryItems(table, range)) yield eventFrom(item);
    },
  };
}

export type EventLog = ReturnType<typeof openEventLog>;
