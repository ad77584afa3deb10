import { ulidFrom, ulidOf } from '../contract/ids.ts';
import type { Organization } from '../contract/organization.ts';
import type { DeliveryRecord } from '../contract/webhooks.ts';
import type { DeliveryMessage } from '../deployment/messages.ts';
import { tableSchema } from '../deployment/table-schema.ts';
import { deliveryPartition } from './delivery-partitions.ts';
import { dueEntry } from './due.ts';
import { historyExpiry } from './history-days.ts';
import { type Key, keys, organizationOf, webhookOf } from './keys.ts';
import type { Item } from './write.ts';

/** The run of a webhook's log in which its attempts stand. Those of versions before it stand in the run `*`. */
export const attemptFacet = 'A';

/** Names an attempt in the log of its webhook. */
export type AttemptPlace = {
  organization: Organization;
  webhookId: string;
  deliveryId: string;
  attempt: number;
  /** The moment that orders it in the log: when it was due, or when it was begun where it was late; ISO 8601. */
  at: string;
};

/** An attempt that failed, and after which another one is made. */
export type Retry = {
  /** When the next attempt is due; ISO 8601. */
  nextAttemptAt: string;
  /** From when on the sweeper looks for it; ISO 8601. */
  dueAt: string;
};

/** An attempt of a delivery as the log keeps it. */
export type Attempt = {
  place: AttemptPlace;
  record: DeliveryRecord;
  /** Absent for tests, which tell of no event. */
  eventId?: string | undefined;
  requestId?: string | undefined;
  /** Absent: it is the last attempt of its delivery. */
  retry?: Retry | undefined;
};

/** The letters of a moment in a ULID. */
export const timeLetters = (time: number) => ulidFrom(time, new Uint8Array(10)).slice(0, 10);

/**
 * What orders attempts in the log of a webhook, newest last: the moment, the delivery and the attempt's number. It is
 * made of nothing else, so that an attempt that is written twice is one row.
 */
export function attemptOrder({ deliveryId, attempt, at }: Omit<AttemptPlace, 'organization' | 'webhookId'>): string {
  return `${timeLetters(Date.parse(at))}${ulidOf(deliveryId).slice(10)}${attempt}`;
}

/** The key of an attempt. */
export function attemptKey(place: AttemptPlace): Key {
  const list = keys.attemptScope(place.organization, ulidOf(place.webhookId));
  return keys.listRow(list, attemptFacet, attemptOrder(place));
}

/** The id of an attempt: the delivery's for the first, and one of its own for each after it. */
export function attemptIdOf({ deliveryId, attempt, at }: Pick<AttemptPlace, 'deliveryId' | 'attempt' | 'at'>): string {
  return attempt === 1 ? deliveryId : `dlv_${timeLetters(Date.parse(at))}${ulidOf(deliveryId).slice(10)}`;
}

/** The row of an attempt. One that is followed by another is listed for the sweeper until that one was made. */
export function attemptItem({ place, record, eventId, requestId, retry }: Attempt): Item {
  return {
    ...attemptKey(place),
    ...record,
    ...(eventId && { eventId }),
    ...(requestId && { requestId }),
    ...(retry && {
      nextAttemptAt: retry.nextAttemptAt,
      ...dueEntry(deliveryPartition(ulidOf(place.deliveryId)), retry.dueAt),
    }),
    [tableSchema.expiry]: historyExpiry(Date.parse(place.at)),
  };
}

/** What a row says of the attempt that follows it. */
type FollowedRow = Key & {
  deliveryId: string;
  eventId?: string;
  attempt: number;
  nextAttemptAt?: string;
  requestId?: string;
};

/** The message of the attempt that follows a failed one, by its row; `undefined` where none follows. */
export function retryOf(row: Item): DeliveryMessage | undefined {
  const { pk, sk, deliveryId, eventId, attempt, nextAttemptAt, requestId } = row as FollowedRow;
  if (nextAttemptAt === undefined) return undefined;
  return {
    organization: organizationOf(pk),
    webhookId: `wh_${webhookOf(pk)}`,
    deliveryId,
    ...(eventId && { eventId }),
    attempt: attempt + 1,
    dueAt: nextAttemptAt,
    listedBy: sk,
    ...(requestId && { requestId }),
  };
}

/** The record that a row of the log shows. */
export function recordFrom(row: Item): DeliveryRecord {
  const { id, deliveryId, attempt, event, httpStatus, durationMs, deliveredAt, redelivery, error } = row;
  const shown = { id, deliveryId, attempt, event, httpStatus, durationMs, deliveredAt, redelivery };
  return { ...shown, ...(error !== undefined && { error }) } as DeliveryRecord;
}
