import type { DeliveryMessage } from '../../deployment/messages.ts';
import type { Counts, Waits } from '../../deployment/metrics.ts';
import type { BatchingContext } from '../../table/batchers.ts';
import { retryOf } from '../../table/deliveries/attempt-items.ts';
import { unlistItem } from '../../table/deliveries/attempt-log.ts';
import { deliveryPartitions, parkedPartitions } from '../../table/deliveries/delivery-partitions.ts';
import { eventFrom, isEvent } from '../../table/deliveries/event-log.ts';
import { isOldDelivery, oldDeliveryPartitions, oldMessageOf } from '../../table/deliveries/old-deliveries.ts';
import { isParked, parkedFrom, releaseFrom } from '../../table/deliveries/parked-attempts.ts';
import { isPaused, openPauseOf } from '../../table/deliveries/pauses.ts';
import type { Key } from '../../table/keys.ts';
import { type SweepCall, type Swept, sweep } from '../../table/lists/due.ts';
import type { Item } from '../../table/write.ts';
import { type AttemptMessageContext, sendAttemptMessages } from './attempt-messages.ts';
import { isLost, readEventDeliveries } from './compare-deliveries.ts';
import { park, releaseParked } from './paused-attempts.ts';
import { addWaits, createWaits, isReceiverSlow, type LongestWaits, secondsOf } from './waits.ts';

type SweepContext = BatchingContext & AttemptMessageContext;

/** The partitions of the `due` index that list attempts, releases, and events to check. */
const partitions = [...deliveryPartitions, ...parkedPartitions, ...oldDeliveryPartitions];

/**
 * Sends the messages of overdue retries again, and those of parked attempts after the end of a pause. Checks that sampled
 * events are delivered to all of their subscribers.
 *
 * @returns also how long attempts have waited, and how many attempts of sampled events were lost
 */
export async function sweepDeliveries(
  context: SweepContext,
  call: SweepCall,
): Promise<Swept & { waits: Waits; counts: Counts }> {
  const now = context.clock();
  const waits = createWaits();
  let missing = 0;
  // The events without lost attempts, and the releases, for which no message is sent.
  let complete = 0;
  let released = 0;
  const swept = await sweep(context, partitions, call, async (items) => {
    const retries = items.flatMap((item) => retryIn(item) ?? []);
    await sendAttemptMessages(context, retries);
    await addWaits(context, waits, waitsOf(retries, now));
    for (const item of items.filter(isEvent)) {
      const lost = await checkEvent(context, item, now, waits);
      missing += lost;
      if (lost === 0) complete++;
    }
    for (const release of items.flatMap((item) => releaseFrom(item) ?? [])) {
      released += await releaseParked(context, release, call.hasTime);
      complete++;
    }
  });
  return {
    ...swept,
    woken: swept.woken - complete + released,
    waits: secondsOf(waits),
    counts: missing > 0 ? { WorkLost: missing } : {},
  };
}

/**
 * Checks the deliveries of a sampled event, and sends lost messages again. The event stays in the sweeper's index until all
 * of its first attempts are made. Messages for slow receivers wait in their queue and are not lost.
 *
 * @returns the number of lost attempts
 */
async function checkEvent(context: SweepContext, item: Item, now: number, waits: LongestWaits): Promise<number> {
  const { nextAttempts, webhooks } = await readEventDeliveries(context, eventFrom(item));
  // A first attempt to a paused webhook is parked even if its message is lost, so that nothing waits for it here.
  for (const message of nextAttempts.filter(({ attempt }) => attempt === 1)) {
    const pause = openPauseOf(webhooks.get(message.webhookId) ?? {});
    if (pause) await park(context, message, pause.from);
  }
  const late = nextAttempts.filter(({ dueAt }) => Date.parse(dueAt) <= now);
  const isParked = ({ webhookId }: DeliveryMessage) => isPaused(webhooks.get(webhookId) ?? {});
  if (nextAttempts.every((message) => message.attempt > 1 || isParked(message)))
    await unlistItem(context, { pk: item.pk, sk: item.sk } as Key);
  await addWaits(context, waits, waitsOf(late, now));
  const old = late.filter((message) => isLost(message, now, webhooks.get(message.webhookId)));
  const slow = await Promise.all(old.map((message) => isReceiverSlow(context, waits, message)));
  const lost = old.filter((_, at) => !slow[at]);
  await sendAttemptMessages(context, lost);
  return lost.length;
}

/** Returns how long attempts have waited since they were due. */
function waitsOf(messages: readonly DeliveryMessage[], now: number) {
  return messages.map((message) => ({ message, lateMs: now - Date.parse(message.dueAt) }));
}

/** Returns the message of the attempt that an item lists; `undefined` for other items. */
function retryIn(item: Item): DeliveryMessage | undefined {
  if (isParked(item)) return parkedFrom(item).message;
  return isOldDelivery(item) ? oldMessageOf(item) : retryOf(item);
}
