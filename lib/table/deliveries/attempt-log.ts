import { timestamp, ulidOf } from '../../contract/ids.ts';
import { ascending } from '../../contract/texts/order.ts';
import type { DeliveryMessage } from '../../names/messages.ts';
import { tableSchema } from '../../names/table-schema.ts';
import { type BatchingContext, putInBatch, readInBatch } from '../access/batchers.ts';
import type { Table, TableContext } from '../access/client.ts';
import { type Key, keys } from '../access/keys.ts';
import { getEach, readRange } from '../access/reads.ts';
import { Conflict, ignoreConflict, transact } from '../access/transact.ts';
import type { Item, Write } from '../access/write.ts';
import type { EventToSend } from '../events/event-log.ts';
import { historyExpiry } from '../lists/history-days.ts';
import { type Target, targetFrom } from '../webhooks/webhooks.ts';
import { closedAfterMs } from './attempt-counts.ts';
import { type Attempt, type AttemptPlace, attemptItem, attemptKey, retryOf } from './attempt-items.ts';
import { isDoneByOldVersion } from './old-deliveries.ts';
import { removeParkedAttempt } from './parked-attempts.ts';

/**
 * The attempt log has one row for each attempt. The key of a row has the delivery and the number of the attempt. The rows
 * of a delivery are its only state: no attempt yet, failed with a retry, delivered, or failed permanently.
 */

/** The stored data of an attempt that can change while it waits for a moment. */
export type AttemptNow = {
  /** Whether the log has a row of the attempt: the attempt was made, and its message is a duplicate. */
  made: boolean;
  /** Absent if the webhook is deleted. */
  target?: Target | undefined;
};

/** The stored data that a worker needs before it makes an attempt. */
export type FoundAttempt = AttemptNow & {
  /**
   * Whether another message replaces this one. The previous attempt was made twice; the second time replaced its row,
   * which now names a retry at another time, or no retry.
   */
  superseded: boolean;
  /** Whether the item of a redelivery, or of a recovery, replaces this retry. */
  replaced: boolean;
  /** Whether an item that is not its parked one lists the attempt in the sweeper's index. */
  listed: boolean;
  /** The event to send. Absent if the event is older than 90 days. */
  loggedEvent?: EventToSend | undefined;
};

/**
 * An attempt is late if it begins this time or more after it was due, in milliseconds. The log orders a late attempt by
 * the time when it began, and other attempts by the time when they were due. So no row is written to the part of the log
 * whose attempts are already counted (`closedAfterMs`). The 60 s are enough for an attempt and for clocks that differ.
 */
export const lateAfterMs = closedAfterMs - 60_000;

/** The maximum duration of an attempt, in milliseconds: 10 s for the request, and less than 20 s to write its row. */
export const maxAttemptMs = 30_000;

/**
 * Returns the time before which an attempt may not begin that has just become late; `undefined` if it may begin now. For
 * `maxAttemptMs` another worker may still be making the same attempt, which it began before the attempt was late. Its row
 * will have another place in the log.
 *
 * @param at the time of that other place; ISO 8601
 * @param now Unix time in ms, like the result
 */
export function notBeforeOf(at: string, now: number): number | undefined {
  const lateFrom = Date.parse(at) + lateAfterMs;
  return now >= lateFrom && now < lateFrom + maxAttemptMs ? lateFrom + maxAttemptMs : undefined;
}

/** The place of an attempt that begins, the time before which it may not begin, or `made` if the log has its row. */
export type Beginning = { place: AttemptPlace } | { notBefore: number } | 'made';

/**
 * Reads the data that an attempt needs. Calls in one turn of the event loop are batched.
 *
 * @param context `ownsLogs` says that the clock can be set: an attempt that began late may not be late any more
 */
export async function findAttempt(
  context: BatchingContext & { ownsLogs: boolean },
  message: DeliveryMessage,
): Promise<FoundAttempt> {
  const { attempt, dueAt } = message;
  const listing = listingKey(message);
  const [{ made, target }, source, before, item] = await Promise.all([
    lookAtAttempt(context, message),
    message.content ?? readInBatch(context, sourceKey(message)),
    listing && readInBatch(context, listing),
    isRetry(message) ? readInBatch(context, redeliveryKey(message)) : undefined,
  ]);
  const oldDelivery = message.eventId ? undefined : (source as Item | undefined);
  const isDone = oldDelivery && isDoneByOldVersion(oldDelivery, attempt);
  const listedBy = before ?? oldDelivery;
  return {
    made: made || isDone === true,
    superseded: listing !== undefined && before?.nextAttemptAt !== dueAt,
    replaced: item !== undefined,
    listed: listedBy?.[tableSchema.dueIndex.partitionKey] !== undefined,
    target,
    loggedEvent: source as FoundAttempt['loggedEvent'],
  };
}

/**
 * Reads what can have changed while an attempt waited for a moment. Nobody replaces a retry that is due. Calls in one turn of the
 * event loop are batched.
 */
export async function lookAtAttempt(
  context: BatchingContext & { ownsLogs: boolean },
  message: DeliveryMessage,
): Promise<AttemptNow> {
  const { organization, webhookId } = message;
  const [webhook, secret, row] = await Promise.all([
    readInBatch(context, keys.webhook(organization, ulidOf(webhookId))),
    readInBatch(context, keys.webhookSecret(organization, ulidOf(webhookId))),
    // Attempts for slow webhooks are often late. Look for their late row too, before they take a lease.
    message.slow || context.ownsLogs ? findRow(context, message) : readInBatch(context, attemptKey(placeOf(message))),
  ]);
  return { made: row !== undefined, target: targetFrom(webhook, secret) };
}

/**
 * Inserts the row of an attempt, and its response if there is one, or replaces them. Calls in one turn of the event loop
 * are batched.
 *
 * @param response the item of the response, see `responseItem`
 */
export async function insertAttempt(context: BatchingContext, attempt: Attempt, response?: Item): Promise<void> {
  await Promise.all([putInBatch(context, attemptItem(attempt)), response && putInBatch(context, response)]);
}

/**
 * Returns the place in the log of an attempt that begins now. An attempt that is not late has the time when it was due. A
 * late attempt has the time when it begins: the first worker stores this time, and a worker with a duplicate message uses
 * the stored time, so that both write the same row. If the first worker is lost, the attempt begins again with a new time.
 *
 * @param now Unix time, in ms
 * @param isAlone whether no other worker can be making the attempt in time
 */
export async function beginAttempt(
  { table }: TableContext,
  message: DeliveryMessage,
  now: number,
  isAlone = false,
): Promise<Beginning> {
  const inTime = beginningAt(message, message.dueAt, now);
  const isWaiting = inTime !== undefined && inTime !== 'made' && 'notBefore' in inTime;
  if (inTime && !(isWaiting && isAlone)) return inTime;
  const [row, lateStart] = await getEach(table, [attemptKey(placeOf(message)), lateKey(message)]);
  if (row) return 'made';
  const begunAt = (lateStart?.at as string | undefined) ?? (await storeLateStart(table, message, timestamp(now)));
  if (begunAt === undefined) return { place: placeOf(message, timestamp(now)) };
  // Another worker began the late attempt first.
  if ((await getEach(table, [attemptKey(placeOf(message, begunAt))]))[0]) return 'made';
  // That worker is lost, unless it is still making the attempt.
  const again = beginningAt(message, begunAt, now);
  if (again) return again;
  // If yet another worker has begun the attempt again in the meantime, use its time.
  const begunAgainAt = await storeLateStart(table, message, timestamp(now), begunAt);
  return { place: placeOf(message, begunAgainAt ?? timestamp(now)) };
}

/** Returns the beginning of an attempt whose place has a time; `undefined` if the attempt is late for that place. */
function beginningAt(message: DeliveryMessage, at: string, now: number): Beginning | undefined {
  if (now < Date.parse(at) + lateAfterMs) return { place: placeOf(message, at) };
  const notBefore = notBeforeOf(at, now);
  return notBefore === undefined ? undefined : { notBefore };
}

/** Returns the message of a delivery's next attempt; `undefined` if the delivery has ended. */
export async function readNextAttempt(
  context: BatchingContext,
  firstAttempt: DeliveryMessage,
): Promise<DeliveryMessage | undefined> {
  return (await readProgress(context, firstAttempt)).next;
}

/**
 * Returns the messages of attempts to one webhook that have no row. The attempts are due at about the same time, so one query
 * reads most of the rows.
 */
export async function readUnmade(
  context: BatchingContext,
  messages: readonly DeliveryMessage[],
): Promise<DeliveryMessage[]> {
  const wanted = messages.map((message) => attemptKey(placeOf(message)));
  const inOrder = wanted.toSorted((a, b) => ascending(a.sk, b.sk));
  const [first, last] = [inOrder[0], inOrder.at(-1)];
  if (!first || !last) return [];
  const rowsBetween = await readRange(context.table, { pk: first.pk, from: first.sk, to: last.sk, only: [] });
  const made = new Set(rowsBetween.map(({ sk }) => sk));
  const left = messages.filter((_, at) => !made.has(wanted[at]?.sk));
  const rows = await Promise.all(left.map((message) => findRow(context, message)));
  return left.filter((_, at) => !rows[at]);
}

/** The row of the last attempt that was made, if there is one, and the message of the next attempt, unless there is none. */
export type DeliveryProgress = { last?: Item; next?: DeliveryMessage };

/** Returns the progress of a delivery, from one of its attempts on. */
export async function readProgress(context: BatchingContext, from: DeliveryMessage): Promise<DeliveryProgress> {
  const { rows, next } = await readAttemptsFrom(context, from);
  const last = rows.at(-1);
  return { ...(last && { last }), ...(next && { next }) };
}

/**
 * Returns the rows of a delivery's attempts from one of them on, each of which names the next one, and the message of the
 * attempt that has no row yet, unless there is none. An item that replaces a retry leads on.
 */
export async function readAttemptsFrom(
  context: BatchingContext,
  from: DeliveryMessage,
): Promise<{ rows: Item[]; next?: DeliveryMessage }> {
  const rows: Item[] = [];
  let next: DeliveryMessage | undefined = from;
  while (next) {
    const row: Item | undefined = await findRow(context, next);
    const replaces: Item | undefined =
      row || !isRetry(next) ? undefined : await readInBatch(context, redeliveryKey(next));
    if (!row && !replaces) break;
    if (row) rows.push(row);
    next = retryOf((row ?? replaces) as Item);
  }
  return { rows, ...(next && { next }) };
}

/**
 * Removes an attempt from the sweeper's index with its parked item, because it was made or will never be made.
 *
 * @param listed whether another item may list it
 */
export async function unlistAttempt(context: TableContext, message: DeliveryMessage, listed = true): Promise<void> {
  await Promise.all([
    listed && unlistParked(context, message),
    message.parked && removeParkedAttempt(context, message),
  ]);
}

/** Removes an attempt that is parked from the sweeper's index, in which another item has listed it. */
export async function unlistParked(context: TableContext, message: DeliveryMessage): Promise<void> {
  const listed = listingKey(message) ?? (message.eventId === undefined ? sourceKey(message) : undefined);
  if (listed) await unlistItem(context, listed);
}

/**
 * Removes a retry that was replaced from the sweeper's index, unless the item that has replaced it is gone: then the row of the
 * previous attempt lists the retry again.
 */
export async function unlistReplaced({ table }: TableContext, message: DeliveryMessage): Promise<void> {
  const listed = listingKey(message);
  if (!listed) return;
  const check: Write = {
    ConditionCheck: { Key: redeliveryKey(message), ConditionExpression: 'attribute_exists(pk)' },
    onConditionFailed: () => new Conflict(),
  };
  await transact(table, [check, unlistWrite(listed)]).catch(ignoreConflict);
}

/** Removes an item from the sweeper's index. */
export async function unlistItem({ table }: TableContext, Key: Key): Promise<void> {
  await transact(table, [unlistWrite(Key)]).catch(ignoreConflict);
}

/**
 * Returns the write that removes an item from the sweeper's index.
 *
 * @param nextAttemptAt the time that the item must still name; any if absent
 */
export function unlistWrite(Key: Key, nextAttemptAt?: string): Write {
  const { partitionKey, sortKey } = tableSchema.dueIndex;
  return {
    Update: {
      Key,
      UpdateExpression: 'REMOVE #due, #dueAt',
      ConditionExpression: nextAttemptAt === undefined ? 'attribute_exists(pk)' : 'nextAttemptAt = :next',
      ExpressionAttributeNames: { '#due': partitionKey, '#dueAt': sortKey },
      ...(nextAttemptAt !== undefined && { ExpressionAttributeValues: { ':next': nextAttemptAt } }),
    },
    onConditionFailed: () => new Conflict(),
  };
}

/** Returns whether an attempt is a retry, which an item with its number can replace. */
function isRetry({ attempt, redelivery, scheduleStart }: DeliveryMessage): boolean {
  return attempt > 1 && !redelivery && scheduleStart !== attempt;
}

/** Returns the row of an attempt that may be late; `undefined` if the log has none. */
async function findRow(context: BatchingContext, message: DeliveryMessage): Promise<Item | undefined> {
  const [row, late] = await Promise.all([
    readInBatch(context, attemptKey(placeOf(message))),
    readInBatch(context, lateKey(message)),
  ]);
  return row ?? (late && readInBatch(context, attemptKey(placeOf(message, late.at as string))));
}

/**
 * Stores the time when a late attempt begins.
 *
 * @param replacedAt the stored time to replace; absent for the first start
 * @returns the time that another worker has stored first, or `undefined`
 */
async function storeLateStart(
  table: Table,
  message: DeliveryMessage,
  at: string,
  replacedAt?: string,
): Promise<string | undefined> {
  let found: string | undefined;
  const write: Write = {
    Put: {
      Item: { ...lateKey(message), at, [tableSchema.expiry]: historyExpiry(Date.parse(at)) },
      ConditionExpression: replacedAt ? '#at = :replacedAt' : 'attribute_not_exists(pk)',
      ...(replacedAt && {
        ExpressionAttributeNames: { '#at': 'at' },
        ExpressionAttributeValues: { ':replacedAt': replacedAt },
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

/** Returns the place of an attempt in the log, by default at the time when it was due. */
export function placeOf(
  { organization, webhookId, deliveryId, attempt, dueAt }: DeliveryMessage,
  at = dueAt,
): AttemptPlace {
  return { organization, webhookId, deliveryId, attempt, at };
}

/** Returns the key of the item with the event: the event itself, or a delivery of an older version. */
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

/** Returns the key of the item of a redelivery, or of an attempt of a recovery, with the number of an attempt. */
function redeliveryKey({ organization, webhookId, deliveryId, attempt }: DeliveryMessage): Key {
  return keys.redelivery(organization, ulidOf(webhookId), ulidOf(deliveryId), attempt);
}

/** Returns the key of the item that stores when a late attempt began. */
function lateKey({ organization, webhookId, deliveryId, attempt }: DeliveryMessage): Key {
  return keys.lateAttempt(organization, ulidOf(webhookId), ulidOf(deliveryId), attempt);
}
