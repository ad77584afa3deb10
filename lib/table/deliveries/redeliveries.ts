import { timeOf, timestamp, ulidOf } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import type { DeliveryMessage } from '../../names/messages.ts';
import { tableSchema } from '../../names/table-schema.ts';
import type { BatchingContext } from '../access/batchers.ts';
import type { TableContext } from '../access/client.ts';
import { requestFields } from '../access/current-request.ts';
import { type Key, keys } from '../access/keys.ts';
import { readRange } from '../access/reads.ts';
import { Conflict, transact } from '../access/transact.ts';
import type { Item, Write } from '../access/write.ts';
import { deliveryPartition } from '../lists/delivery-partitions.ts';
import { dueEntry } from '../lists/due.ts';
import { historyExpiry } from '../lists/history-days.ts';
import { redeliveryKind, retryOf } from './attempt-items.ts';
import { type DeliveryProgress, readProgress, unlistWrite } from './attempt-log.ts';

/**
 * A redelivery is an item in the partition of the attempt log. It lists its attempt in the sweeper's index until the
 * attempt is made, as the row of a failed attempt lists its retry. It is not stored in the row of the last attempt: a
 * worker that makes that attempt a second time would replace the row, and the redelivery would be lost.
 *
 * The item can have the number of a retry that waits. Then it replaces that retry: a worker that receives the message of a retry
 * reads the item too. The row of the failed attempt still names the time of the retry, and does not list it any more.
 */

/** A delivery of a webhook. */
export type DeliveryOfWebhook = { organization: Organization; webhookId: string; deliveryId: string };

/** The largest number of an attempt in the key of a redelivery. */
const mostAttempts = 999_999;

/** Returns the progress of a delivery with its redeliveries, strongly consistent. */
export async function readDeliveryProgress(
  context: BatchingContext,
  delivery: DeliveryOfWebhook,
): Promise<DeliveryProgress> {
  const { organization, webhookId, deliveryId } = delivery;
  const [webhook, ulid] = [ulidOf(webhookId), ulidOf(deliveryId)];
  const { pk, sk: from } = keys.redelivery(organization, webhook, ulid, 0);
  const { sk: to } = keys.redelivery(organization, webhook, ulid, mostAttempts);
  const [latest] = await readRange(context.table, { pk, from, to, limit: 1 });
  return readProgress(context, (latest && retryOf(latest)) ?? firstAttemptOfDelivery(delivery));
}

/** A retry that waits: the key of the row of the failed attempt, which names its time (ISO 8601). */
export type WaitingRetry = { row: Key; dueAt: string };

/** Returns the retry that the row of a failed attempt names; `undefined` for the row of a last attempt. */
export function waitingRetryOf({ pk, sk, nextAttemptAt }: Item): WaitingRetry | undefined {
  return nextAttemptAt === undefined ? undefined : { row: { pk, sk } as Key, dueAt: nextAttemptAt as string };
}

/** How far away the retry of a delivery is at least that another attempt replaces, in milliseconds. */
const retryAwayMs = 15_000;

/**
 * How long ago the last attempt of such a delivery has ended at least, in milliseconds: no other worker still makes the same
 * attempt, and would write its row again with another retry.
 */
const endedAgoMs = 30_000;

/** How long after its end another attempt can replace the retry of each failed attempt, unless that is soon, in milliseconds. */
export const replaceableAfterMs = endedAgoMs + 1_000;

/** How long an attempt is expected to run that is due or has begun, in milliseconds. */
export const expectedRunMs = 30_000;

/**
 * Returns how long no attempt can replace the retry of a failed attempt (in milliseconds; 0 if one can): until it is due if that is
 * soon, or else until it is certain that the failed attempt is not made again.
 *
 * @param last the row of the failed attempt
 * @param now Unix time, in ms
 */
export function replaceableInMs({ nextAttemptAt, deliveredAt }: Item, now: number): number {
  const awayMs = Date.parse(nextAttemptAt as string) - now;
  if (awayMs <= 0) return expectedRunMs;
  if (awayMs <= retryAwayMs) return awayMs;
  const endedMs = now - Date.parse(deliveredAt as string);
  return endedMs > endedAgoMs ? 0 : Math.min(endedAgoMs - endedMs + 1, awayMs);
}

/** Returns the write that takes a retry out of the sweeper's index, because the item of another attempt replaces it. */
export function replaceRetry({ row, dueAt }: WaitingRetry): Write {
  return unlistWrite(row, dueAt);
}

/**
 * Puts a redelivery, which is due now, and the idempotency record, or nothing.
 *
 * @param last the number of the last attempt, the event, and the retry that the redelivery replaces: with it, the retry schedule
 *   begins again
 * @throws `Conflict` if another request was first
 */
export async function insertRedelivery(
  { table, clock }: TableContext & { clock: () => number },
  { organization, webhookId, deliveryId }: DeliveryOfWebhook,
  { retry, ...last }: { attempt: number; eventId: string; retry?: WaitingRetry | undefined },
  records: readonly Write[] = [],
): Promise<void> {
  const now = clock();
  const ulid = ulidOf(deliveryId);
  const redelivery = {
    ...keys.redelivery(organization, ulidOf(webhookId), ulid, last.attempt + 1),
    kind: redeliveryKind,
    deliveryId,
    ...last,
    ...requestFields(),
    requested: true,
    ...(retry && { scheduleStart: last.attempt + 1 }),
    nextAttemptAt: timestamp(now),
    ...dueEntry(deliveryPartition(ulid), timestamp(now)),
    [tableSchema.expiry]: historyExpiry(now),
  };
  await transact(table, [
    {
      Put: { Item: redelivery, ConditionExpression: 'attribute_not_exists(pk)' },
      onConditionFailed: () => new Conflict(),
    },
    ...(retry ? [replaceRetry(retry)] : []),
    ...records,
  ]);
}

/** Returns the message of a delivery's first attempt, which is due at the time of the delivery's id. */
export function firstAttemptOfDelivery(delivery: DeliveryOfWebhook): DeliveryMessage {
  return { ...delivery, attempt: 1, dueAt: timestamp(timeOf(ulidOf(delivery.deliveryId))) };
}
