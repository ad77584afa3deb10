import type { EventName } from '../contract/events.ts';
import { timestamp, ulidOf } from '../contract/ids.ts';
import type { DeliveryMessage } from '../deployment/messages.ts';
import { tableSchema } from '../deployment/table-schema.ts';
import { closedAfterMs } from './attempt-counts.ts';
import { type Attempt, type AttemptPlace, attemptItem, attemptKey, retryOf } from './attempt-items.ts';
import { type BatchingContext, putInBatch, readInBatch } from './batchers.ts';
import type { Table, TableContext } from './client.ts';
import { historyExpiry } from './history-days.ts';
import { type Key, keys } from './keys.ts';
import { isDoneByOldVersion } from './old-deliveries.ts';
import { getEach } from './reads.ts';
import { Conflict, ignoreConflict, transact } from './transact.ts';
import { type Target, targetFrom } from './webhooks.ts';
import type { Item, Write } from './write.ts';

/**
 * The attempt log: a row for each attempt, whose key consists of its delivery and its number. The rows of a delivery are
 * its state: no attempt yet, failed with a retry, delivered, or exhausted.
 */

/** The items that an attempt needs before it is made. */
export type FoundAttempt = {
  /** Whether the log has the attempt: its message is a duplicate. */
  made: boolean;
  /** Whether the failed attempt before it was made twice, and its row now names another retry, or none. */
  superseded: boolean;
  /** Absent if the webhook is deleted. */
  target?: Target | undefined;
  /** The event to send, with `data` as JSON. Absent after its 90 days. */
  loggedEvent?: { event: EventName; data: string } | undefined;
};

/**
 * How late an attempt begins, in milliseconds, if its place in the log is the time of its beginning. So nothing is written
 * to a closed part of the log: the clocks of two functions differ by less than the remaining time.
 */
export const lateMs = closedAfterMs - 60_000;

/** The longest time of an attempt, in milliseconds: 10 s for the request, and less than 20 s to write its row. */
const attemptMs = 30_000;

/**
 * Returns until when a slightly late attempt has to wait; `undefined` if it need not. Another worker may have begun the same
 * attempt in time, at another place in the log, and may still be making it.
 *
 * @param at the time of that other place; ISO 8601
 * @param now Unix time in ms, like the result
 */
export function undecidedUntil(at: string, now: number): number | undefined {
  const lateFrom = Date.parse(at) + lateMs;
  return now >= lateFrom && now < lateFrom + attemptMs ? lateFrom + attemptMs : undefined;
}

/** The place of an attempt that begins, the time from which it may begin, or `made` if the log has it. */
export type Beginning = { place: AttemptPlace } | { notBefore: number } | 'made';

/** Reads the items that an attempt needs. The calls of one turn of the event loop share requests. */
export async function findAttempt(context: BatchingContext, message: DeliveryMessage): Promise<FoundAttempt> {
  const { organization, webhookId, attempt, dueAt } = message;
  const listing = listingKey(message);
  const [webhook, secret, source, row, before] = await Promise.all([
    readInBatch(context, keys.webhook(organization, ulidOf(webhookId))),
    readInBatch(context, keys.webhookSecret(organization, ulidOf(webhookId))),
    readInBatch(context, sourceKey(message)),
    // Attempts of slow webhooks are often late, and take a lease before `beginAttempt` looks for a late row.
    message.slow ? findRow(context, message) : readInBatch(context, attemptKey(placeOf(message))),
    listing && readInBatch(context, listing),
  ]);
  const doneBefore = source && !message.eventId && isDoneByOldVersion(source, attempt);
  return {
    made: row !== undefined || doneBefore === true,
    superseded: listing !== undefined && before?.nextAttemptAt !== dueAt,
    target: targetFrom(webhook, secret),
    loggedEvent: source as FoundAttempt['loggedEvent'],
  };
}

/** Inserts the row of an attempt, or replaces it. The calls of one turn of the event loop share requests. */
export function insertAttempt(context: BatchingContext, attempt: Attempt): Promise<void> {
  return putInBatch(context, attemptItem(attempt));
}

/**
 * Returns the place in the log of an attempt that begins now: the time when it was due. The place of a late attempt is the
 * time of its beginning, which the first worker stores for all: a duplicate message leads to the same row. If that worker
 * is lost, the attempt begins again at another place.
 *
 * @param now Unix time, in ms
 */
export async function beginAttempt({ table }: TableContext, message: DeliveryMessage, now: number): Promise<Beginning> {
  const onTime = placeOf(message);
  if (now < Date.parse(onTime.at) + lateMs) return { place: onTime };
  const notBefore = undecidedUntil(message.dueAt, now);
  if (notBefore) return { notBefore };
  const [row, late] = await getEach(table, [attemptKey(onTime), lateKey(message)]);
  if (row) return 'made';
  const begun = (late?.at as string | undefined) ?? (await beginLate(table, message, timestamp(now)));
  if (begun === undefined) return { place: placeOf(message, timestamp(now)) };
  const before = placeOf(message, begun);
  if ((await getEach(table, [attemptKey(before)]))[0]) return 'made';
  if (now < Date.parse(begun) + lateMs) return { place: before };
  const notAnew = undecidedUntil(begun, now);
  if (notAnew) return { notBefore: notAnew };
  // If another worker has just begun it again, its place counts.
  const again = await beginLate(table, message, timestamp(now), begun);
  return { place: placeOf(message, again ?? timestamp(now)) };
}

/** Returns the next attempt of a delivery, from the message of its first; `undefined` if the delivery has ended. */
export async function readNextAttempt(
  context: BatchingContext,
  first: DeliveryMessage,
): Promise<DeliveryMessage | undefined> {
  let message: DeliveryMessage | undefined = first;
  while (message) {
    const row: Item | undefined = await findRow(context, message);
    if (!row) return message;
    message = retryOf(row);
  }
  return undefined;
}

/** Removes the entry that lists an attempt from the sweeper's index: the attempt was made, or never will be. */
export async function unlistAttempt(context: TableContext, message: DeliveryMessage): Promise<void> {
  const listed = listingKey(message) ?? (message.eventId === undefined ? sourceKey(message) : undefined);
  if (listed) await unlistItem(context, listed);
}

/** Removes an item from the sweeper's index. */
export async function unlistItem({ table }: TableContext, Key: Key): Promise<void> {
  const { partitionKey, sortKey } = tableSchema.dueIndex;
  const write: Write = {
    Update: {
      Key,
      UpdateExpression: 'REMOVE #due, #dueAt',
      ConditionExpression: 'attribute_exists(pk)',
      ExpressionAttributeNames: { '#due': partitionKey, '#dueAt': sortKey },
    },
    onConditionFailed: () => new Conflict(),
  };
  await transact(table, [write]).catch(ignoreConflict);
}

/** Returns the row of an attempt, at its time or late; `undefined` if the log has none. */
async function findRow(context: BatchingContext, message: DeliveryMessage): Promise<Item | undefined> {
  const [row, late] = await Promise.all([
    readInBatch(context, attemptKey(placeOf(message))),
    readInBatch(context, lateKey(message)),
  ]);
  return row ?? (late && readInBatch(context, attemptKey(placeOf(message, late.at as string))));
}

/**
 * Stores when a late attempt began.
 *
 * @param instead the time that is replaced
 * @returns the time that another worker has stored first
 */
async function beginLate(
  table: Table,
  message: DeliveryMessage,
  at: string,
  instead?: string,
): Promise<string | undefined> {
  let found: string | undefined;
  const write: Write = {
    Put: {
      Item: { ...lateKey(message), at, [tableSchema.expiry]: historyExpiry(Date.parse(at)) },
      ConditionExpression: instead ? '#at = :instead' : 'attribute_not_exists(pk)',
      ...(instead && {
        ExpressionAttributeNames: { '#at': 'at' },
        ExpressionAttributeValues: { ':instead': instead },
      }),
    },
    onConditionFailed: (item) => {
      found = item?.at as string | undefined;
      return new Conflict();
    },
  };
  await transact(table, [write]).catch(ignoreConflict);
  return found;
}

/** Returns the place of an attempt in the log: the time when it was due, unless it is late. */
export function placeOf(
  { organization, webhookId, deliveryId, attempt, dueAt }: DeliveryMessage,
  at = dueAt,
): AttemptPlace {
  return { organization, webhookId, deliveryId, attempt, at };
}

/** Returns the key of the item that has the event of a delivery. */
function sourceKey({ organization, webhookId, deliveryId, eventId }: DeliveryMessage): Key {
  return eventId === undefined
    ? keys.oldDelivery(organization, ulidOf(webhookId), ulidOf(deliveryId))
    : keys.event(organization, ulidOf(eventId));
}

/** Returns the key of the row that lists a retry in the sweeper's index. */
function listingKey({ organization, webhookId, listedBy }: DeliveryMessage): Key | undefined {
  return listedBy === undefined
    ? undefined
    : { pk: keys.attemptScope(organization, ulidOf(webhookId)).rows, sk: listedBy };
}

/** Returns the key of the item that stores when a late attempt began. */
function lateKey({ organization, webhookId, deliveryId, attempt }: DeliveryMessage): Key {
  return keys.lateAttempt(organization, ulidOf(webhookId), ulidOf(deliveryId), attempt);
}
