import { tableSchema } from '../contract/deployment.ts';
import type { EventName } from '../contract/events.ts';
import { timeOf, timestamp, ulidFrom, ulidOf } from '../contract/ids.ts';
import type { Organization } from '../contract/organization.ts';
import { dueEntry } from './due.ts';
import { type Key, keys } from './keys.ts';
import type { Epochs } from './listing.ts';
import type { Item } from './transact.ts';

/** Where a delivery that has an attempt before it stands: the first one, or one after a failure. */
export const waitingStates = ['pending', 'retrying'] as const;

/** Where a delivery stands (design §5): it waits, or has come to its end. */
export type DeliveryState = (typeof waitingStates)[number] | 'delivered' | 'exhausted' | 'skipped';

/** One event on its way to one webhook. */
export type Delivery = {
  organization: Organization;
  webhookId: string;
  id: string;
  event: EventName;
  /** The request that has made the event, as far as it is known. */
  requestId?: string;
  /** The event's `data` as JSON: text keeps its order, which a map of the table would not. */
  data: string;
  state: DeliveryState;
  /** The number of the attempt that is next, from 1; of the last one at the end. */
  attempt: number;
  /** When that attempt may be made; ISO 8601. */
  nextAttemptAt: string;
  /** Until when a worker has it in hand; ISO 8601. */
  leaseUntil?: string;
  /** Names the worker's hold on it: only who holds it may say how the attempt ended. */
  claim?: string;
};

const dayMs = 24 * 60 * 60 * 1000;
const keptDays = 90;

/** Attempts are counted by the UTC day of their end, so that totals stay exact as whole days leave the history. */
export const utcDays: Epochs = {
  of: (ulid) => timestamp(timeOf(ulid)).slice(0, 10),
  first: (day) => ulidFrom(Date.parse(day), new Uint8Array(10)),
  last: (day) => ulidFrom(Date.parse(day) + dayMs - 1, new Uint8Array(10).fill(255)),
};

/** The oldest ULID that is still in the history: the start of the UTC day 90 days ago. */
export function historyStart(now: number): string {
  return ulidFrom(Math.floor(now / dayMs - keptDays) * dayMs, new Uint8Array(10));
}

/** When what ended at a moment may be deleted, in seconds since 1970: its whole day has left the history by then. */
export function historyExpiry(time: number): number {
  return (Math.floor(time / dayMs) + 1 + keptDays) * (dayMs / 1000);
}

/** Deliveries that wait are spread over so many partitions of the `due` index. */
export const dueLanes = ['0', '1', '2', '3'] as const;

/** The lane of a delivery in that index. */
export function dueLane(ulid: string): string {
  return dueLanes[ulid.charCodeAt(ulid.length - 1) % dueLanes.length] as string;
}

/** The key of a delivery. */
export function deliveryKey({ organization, webhookId, id }: Pick<Delivery, 'organization' | 'webhookId' | 'id'>): Key {
  return keys.delivery(organization, ulidOf(webhookId), ulidOf(id));
}

/** The item that a new delivery is stored as, in the sweeper's index from `dueAt` on. */
export function deliveryItem(delivery: Delivery, dueAt: string): Item {
  const ulid = ulidOf(delivery.id);
  const expiresAt = historyExpiry(timeOf(ulid));
  return { ...deliveryKey(delivery), ...delivery, ...dueEntry(dueLane(ulid), dueAt), [tableSchema.expiry]: expiresAt };
}

/** The delivery that an item stores. */
export function deliveryFrom(item: Item): Delivery {
  const { pk: _, sk: __, due: ___, dueAt: ____, expiresAt: _____, ...delivery } = item;
  return delivery as Delivery;
}
