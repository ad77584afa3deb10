import type { DeliveryMessage } from '../../names/messages.ts';
import { type Key, organizationOf, webhookOf } from '../access/keys.ts';
import type { Item } from '../access/write.ts';

/**
 * The deliveries of versions before the attempt log. Each is an item with its event, its state and the number of its next
 * attempt. This version completes deliveries that were in progress at the upgrade, and creates no new ones. Delete this file when
 * no table has any that waits: all retries of a delivery take less than three hours.
 */

/** The partitions of the `due` index that list these deliveries. */
export const oldDeliveryPartitions = ['0', '1', '2', '3'] as const;

/** The item of such a delivery. */
type OldDelivery = Key & { id: string; state: string; attempt: number; nextAttemptAt: string; requestId?: string };

/** Returns whether an item is such a delivery. */
export function isOldDelivery({ sk }: Item): boolean {
  return (sk as string).startsWith('D#');
}

/** Returns whether an earlier version made an attempt of such a delivery, or the delivery has ended. */
export function isDoneByOldVersion(item: Item, attempt: number): boolean {
  return !isInProgress(item) || (item as OldDelivery).attempt > attempt;
}

/** Returns the message of the next attempt of such a delivery, as earlier versions sent it; `undefined` after its end. */
export function oldMessageOf(item: Item): DeliveryMessage | undefined {
  if (!isInProgress(item)) return undefined;
  const { pk, sk, id, attempt, nextAttemptAt, requestId } = item as OldDelivery;
  return {
    organization: organizationOf(pk),
    webhookId: `wh_${webhookOf(pk)}`,
    deliveryId: id,
    attempt,
    dueAt: nextAttemptAt,
    listedBy: sk,
    ...(requestId && { requestId }),
  };
}

const isInProgress = ({ state }: Item) => state === 'pending' || state === 'retrying';
