import type { DeliveryMessage } from '../deployment/messages.ts';
import { type Key, organizationOf, webhookOf } from './keys.ts';
import type { Item } from './write.ts';

/**
 * Deliveries as versions before the attempt log kept them: an item each, with its event, its state and the number of its
 * next attempt. Those that were under way at the upgrade are finished from their items; new ones are not made. This file
 * can go once no table has any that waits: the ladder takes less than three hours.
 */

/** The partitions of the `due` index that list such deliveries. */
export const oldDeliveryPartitions = ['0', '1', '2', '3'] as const;

/** What such an item says. */
type OldDelivery = Key & { id: string; state: string; attempt: number; nextAttemptAt: string; requestId?: string };

/** Whether an item is such a delivery. */
export function isOldDelivery({ sk }: Item): boolean {
  return (sk as string).startsWith('D#');
}

/** Whether an attempt of such a delivery was made by a version before, or the delivery has ended. */
export function isDoneByOldVersion(item: Item, attempt: number): boolean {
  return !isUnderWay(item) || (item as OldDelivery).attempt > attempt;
}

/** The message of the next attempt of such a delivery, as the versions before sent it; `undefined` where it has ended. */
export function oldMessageOf(item: Item): DeliveryMessage | undefined {
  if (!isUnderWay(item)) return undefined;
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

const isUnderWay = ({ state }: Item) => state === 'pending' || state === 'retrying';
