import { ulidFrom, ulidOf } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import type { DeliveryRecord } from '../../contract/webhooks/webhooks.ts';
import type { DeliveryMessage } from '../../names/messages.ts';
import { tableSchema } from '../../names/table-schema.ts';
import { type Key, keys, organizationOf, webhookOf } from '../access/keys.ts';
import type { Item } from '../access/write.ts';
import { deliveryPartition } from '../lists/delivery-partitions.ts';
import { dueEntry } from '../lists/due.ts';
import { historyExpiry } from '../lists/history-days.ts';

/**
 * The times of an attempt, each of which has one name everywhere:
 *
 * - `dueAt`: when it is due: a first attempt at the time of its event, a retry after its step of the retry schedule. It stays the
 *   same, so it is part of the identity of the attempt. Rows and items store it as `nextAttemptAt`, since `dueAt` is their
 *   attribute for the sweeper's index.
 * - `notBefore`: before which it may not begin, or its message may not be received again. It is not stored.
 * - `bookedAt`: which it has booked, if its webhook has a maximum of attempts in a second.
 * - `begunAt`: when it began, if it is late. The first worker stores it, and others use it.
 * - `sentAt`: when its request begins, as its headers say.
 * - `at`, in its place in the log: `dueAt`, or `begunAt` if it is late.
 * - `listedFrom`: from which on the sweeper looks for it, unless it is made before.
 *
 * `notBefore` and `sentAt` are Unix times in ms, the others are in ISO 8601.
 */

/** The facet of attempts in the log of their webhook. Attempts of versions before the log have the facet `*`. */
export const attemptFacet = 'A';

/** The kind of the items of requested attempts: the stream has new ones, so that their messages are sent at once. */
export const redeliveryKind = 'redelivery';

/** The place of an attempt in the log of its webhook. */
export type AttemptPlace = {
  organization: Organization;
  webhookId: string;
  deliveryId: string;
  attempt: number;
  /** The time that orders it in the log: when it was due, or, for a late attempt, when it began; ISO 8601. */
  at: string;
};

/** The retry after a failed attempt. */
export type Retry = {
  /** When the next attempt is due; ISO 8601. */
  dueAt: string;
  /** When the sweeper begins to look for it; ISO 8601. */
  listedFrom: string;
};

/**
 * What the row of an attempt has of its request and its response, in short names: a row of more than 1 KiB would take
 * another write unit. With the event, it is enough to compute the body and the headers of the request again.
 */
export type SentRequest = {
  /** The time in the headers and the body; Unix time, in ms. */
  at: number;
  /** The host of the URL, with its port. */
  host: string;
  signed: boolean;
  /** The address that was dialled; absent if none was. */
  ip?: string;
  /** The milliseconds of each completed phase. */
  dns?: number;
  connect?: number;
  tls?: number;
  firstByte?: number;
  /** Present if the request asked the receiver to keep the connection. */
  keepAlive?: boolean;
  /** Whether the response has an item of its own (`responseItem`); absent without a response. */
  kept?: boolean;
};

/** An attempt of a delivery in the log. */
export type Attempt = {
  place: AttemptPlace;
  record: DeliveryRecord;
  /** Absent for test deliveries. */
  eventId?: string | undefined;
  requestId?: string | undefined;
  scheduleStart?: number | undefined;
  /** Absent for the last attempt of a delivery. */
  retry?: Retry | undefined;
  /** The request, and whether its response is stored; absent in tests of other parts. */
  sent?: SentRequest | undefined;
  /** The `data` of a test event as JSON. The event log has the `data` of other events. */
  data?: string | undefined;
};

/** Returns the letters of a time in a ULID. */
export const timeLetters = (time: number) => ulidFrom(time, new Uint8Array(10)).slice(0, 10);

/**
 * Returns the order of an attempt in the log of its webhook, newest last: time, delivery and number of the attempt. It has
 * no other part, so that an attempt that is written twice is one row.
 */
export function attemptOrder({ deliveryId, attempt, at }: Omit<AttemptPlace, 'organization' | 'webhookId'>): string {
  return `${timeLetters(Date.parse(at))}${ulidOf(deliveryId).slice(10)}${attempt}`;
}

/** Returns the key of an attempt. */
export function attemptKey(place: AttemptPlace): Key {
  const list = keys.attemptScope(place.organization, ulidOf(place.webhookId));
  return keys.listRow(list, attemptFacet, attemptOrder(place));
}

/** Returns the id of an attempt. The first attempt has the id of the delivery. */
export function attemptIdOf({ deliveryId, attempt, at }: Pick<AttemptPlace, 'deliveryId' | 'attempt' | 'at'>): string {
  return attempt === 1 ? deliveryId : `dlv_${timeLetters(Date.parse(at))}${ulidOf(deliveryId).slice(10)}`;
}

/** Returns the row of an attempt. The sweeper's index lists a row with a retry until that retry is made. */
export function attemptItem({ place, record, eventId, requestId, scheduleStart, retry, sent, data }: Attempt): Item {
  return {
    ...attemptKey(place),
    ...record,
    ...(eventId && { eventId }),
    ...(requestId && { requestId }),
    ...(sent && { sent }),
    ...(data !== undefined && { data }),
    ...(scheduleStart !== undefined && { scheduleStart }),
    ...(retry && {
      nextAttemptAt: retry.dueAt,
      ...dueEntry(deliveryPartition(ulidOf(place.deliveryId)), retry.listedFrom),
    }),
    [tableSchema.expiry]: historyExpiry(Date.parse(place.at)),
  };
}

/** The part of a row that names the next attempt. */
type FollowedRow = Key & {
  deliveryId: string;
  eventId?: string;
  attempt: number;
  nextAttemptAt?: string;
  requestId?: string;
  /** Only in the item of a redelivery, see `redeliveries.ts`. */
  requested?: true;
  scheduleStart?: number;
  /** Only in the item of an attempt of a recovery. */
  recovery?: string;
};

/**
 * Returns the message of the attempt that an item lists: of the retry, from the row of a failed attempt, or of a
 * redelivery, from its item. Returns `undefined` for the row of a last attempt.
 */
export function retryOf(row: Item): DeliveryMessage | undefined {
  const { pk, sk, deliveryId, eventId, attempt, nextAttemptAt, requestId, requested, scheduleStart, recovery } =
    row as FollowedRow;
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
    ...(requested && { redelivery: true }),
    ...(scheduleStart !== undefined && { scheduleStart }),
    ...(recovery && { recovery }),
  };
}

/**
 * Returns the rows of a delivery without duplicates. A first attempt that a recovery makes late is found
 * from the time of the event and from the item of the recovery.
 */
export function uniqueRows(rows: readonly Item[]): Item[] {
  return [...new Map(rows.map((row) => [row.sk, row])).values()];
}

/** Returns the record of a row. */
export function recordFrom(row: Item): DeliveryRecord {
  const { id, deliveryId, attempt, event, httpStatus, durationMs, deliveredAt, redelivery, error, test } = row;
  const fields = { id, deliveryId, attempt, event, httpStatus, durationMs, deliveredAt, redelivery };
  return { ...fields, ...(error !== undefined && { error }), ...(test === true && { test }) } as DeliveryRecord;
}
