import type { DeliveryMessage } from '../deployment/messages.ts';
import type { Counts, Waits } from '../deployment/metrics.ts';
import { retryOf } from '../table/attempt-items.ts';
import { unlist } from '../table/attempt-log.ts';
import type { Table } from '../table/client.ts';
import { deliveryPartitions } from '../table/delivery-partitions.ts';
import { type SweepCall, type Swept, sweep } from '../table/due.ts';
import { eventFrom, isEvent } from '../table/event-log.ts';
import type { Key } from '../table/keys.ts';
import { isOldDelivery, oldDeliveryPartitions, oldMessageOf } from '../table/old-deliveries.ts';
import { readTarget } from '../table/webhooks.ts';
import type { Item } from '../table/write.ts';
import { isLost, type Verification } from './verification.ts';
import { openWaits } from './waits.ts';

/** What the sweep of deliveries is made of. */
export type DeliverySweepParts = {
  table: Table;
  verification: Verification;
  /** Sends messages of attempts again. */
  wake: (messages: readonly DeliveryMessage[]) => Promise<void>;
  clock: () => number;
};

/**
 * Opens the sweep of deliveries. It sends the messages of retries that are overdue again, and looks whether sampled events
 * have come to every webhook that hears them.
 */
export function openDeliverySweep({ table, verification, wake, clock }: DeliverySweepParts) {
  const partitions = [...deliveryPartitions, ...oldDeliveryPartitions];

  /** @returns also how long attempts have waited, and how many of the sampled events' are taken for lost */
  return async (call: SweepCall): Promise<Swept & { waits: Waits; counts: Counts }> => {
    const now = clock();
    const waits = openWaits((organization, webhookId) => readTarget({ table }, organization, webhookId));
    let missing = 0;
    const swept = await sweep({ table, clock }, partitions, call, async (items) => {
      const retries = items.flatMap((item) => retryIn(item) ?? []);
      await wake(retries);
      await waits.note(retries.map((message) => ({ message, lateMs: now - Date.parse(message.dueAt) })));
      for (const item of items.filter(isEvent)) missing += await check(item, now, waits);
    });
    return { ...swept, waits: waits.longest(), counts: missing > 0 ? { WorkLost: missing } : {} };
  };

  /**
   * Looks at the deliveries of a sampled event. It stays listed until each has been attempted or is lost, which is sent
   * again; but what waits for a slow receiver has its place in the queue and is not.
   *
   * @returns how many were lost
   */
  async function check(item: Item, now: number, waits: ReturnType<typeof openWaits>): Promise<number> {
    const { underWay } = await verification.deliveriesOf(eventFrom(item));
    const late = underWay.filter(({ dueAt }) => Date.parse(dueAt) <= now);
    if (underWay.every(({ attempt }) => attempt > 1)) await unlist(table, { pk: item.pk, sk: item.sk } as Key);
    await waits.note(late.map((message) => ({ message, lateMs: now - Date.parse(message.dueAt) })));
    const old = late.filter((message) => isLost(message, now));
    const slow = await Promise.all(old.map((message) => waits.isSlow(message)));
    const lost = old.filter((_, at) => !slow[at]);
    await wake(lost);
    return lost.length;
  }
}

/** The message of the retry that an item lists; `undefined` for anything else. */
function retryIn(item: Item): DeliveryMessage | undefined {
  return isOldDelivery(item) ? oldMessageOf(item) : retryOf(item);
}
