import { timeOf, timestamp, ulidOf } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import type { DeliveryMessage } from '../../deployment/messages.ts';
import { tableSchema } from '../../deployment/table-schema.ts';
import { requestFields } from '../../request-context.ts';
import type { BatchingContext } from '../batchers.ts';
import type { TableContext } from '../client.ts';
import { keys } from '../keys.ts';
import { dueEntry } from '../lists/due.ts';
import { readRange } from '../reads.ts';
import { Conflict, transact } from '../transact.ts';
import type { Write } from '../write.ts';
import { retryOf } from './attempt-items.ts';
import { type Progress, readProgress } from './attempt-log.ts';
import { deliveryPartition } from './delivery-partitions.ts';
import { historyExpiry } from './history-days.ts';

/**
 * A redelivery is an item in the partition of the attempt log. It lists its attempt in the sweeper's index until the
 * attempt is made, as the row of a failed attempt lists its retry. It is not stored in the row of the last attempt: a
 * worker that makes that attempt a second time would replace the row, and the redelivery would be lost.
 */

/** A delivery of a webhook. */
export type DeliveryOfWebhook = { organization: Organization; webhookId: string; deliveryId: string };

/** The largest number of an attempt in the key of a redelivery. */
const mostAttempts = 999_999;

/** Returns the progress of a delivery with its redeliveries, strongly consistent. */
export async function readDeliveryProgress(context: BatchingContext, delivery: DeliveryOfWebhook): Promise<Progress> {
  const { organization, webhookId, deliveryId } = delivery;
  const [webhook, ulid] = [ulidOf(webhookId), ulidOf(deliveryId)];
  const { pk, sk: from } = keys.redelivery(organization, webhook, ulid, 0);
  const { sk: to } = keys.redelivery(organization, webhook, ulid, mostAttempts);
  const [latest] = await readRange(context.table, { pk, from, to, limit: 1 });
  return readProgress(context, (latest && retryOf(latest)) ?? firstAttemptOf(delivery));
}

/**
 * Puts a redelivery, which is due now, and the idempotency record, or nothing.
 *
 * @param last the number of the last attempt, and the event
 * @throws `Conflict` if another request was first
 */
export async function insertRedelivery(
  { table, clock }: TableContext & { clock: () => number },
  { organization, webhookId, deliveryId }: DeliveryOfWebhook,
  last: { attempt: number; eventId: string },
  records: readonly Write[] = [],
): Promise<void> {
  const now = clock();
  const ulid = ulidOf(deliveryId);
  const redelivery = {
    ...keys.redelivery(organization, ulidOf(webhookId), ulid, last.attempt + 1),
    deliveryId,
    ...last,
    ...requestFields(),
    requested: true,
    nextAttemptAt: timestamp(now),
    ...dueEntry(deliveryPartition(ulid), timestamp(now)),
    [tableSchema.expiry]: historyExpiry(now),
  };
  await transact(table, [
    {
      Put: { Item: redelivery, ConditionExpression: 'attribute_not_exists(pk)' },
      onConditionFailed: () => new Conflict(),
    },
    ...records,
  ]);
}

/** Returns the message of a delivery's first attempt, which is due at the time of the delivery's id. */
export function firstAttemptOf(delivery: DeliveryOfWebhook): DeliveryMessage {
  return { ...delivery, attempt: 1, dueAt: timestamp(timeOf(ulidOf(delivery.deliveryId))) };
}
