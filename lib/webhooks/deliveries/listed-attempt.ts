import type { DeliveryMessage } from '../../names/messages.ts';
import type { Item } from '../../table/access/write.ts';
import { retryOf } from '../../table/deliveries/attempt-items.ts';
import { isOldDelivery, oldMessageOf } from '../../table/deliveries/old-deliveries.ts';
import { isParked, parkedFrom } from '../../table/deliveries/parked-attempts.ts';

/** Returns the message of the attempt that an item lists; `undefined` for other items. */
export function attemptIn(item: Item): DeliveryMessage | undefined {
  if (isParked(item)) return parkedFrom(item).message;
  return isOldDelivery(item) ? oldMessageOf(item) : retryOf(item);
}
