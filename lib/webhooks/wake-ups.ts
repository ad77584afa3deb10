import type { DeliveryMessage } from '../contract/messages.ts';
import { type Queue, secondsUntil } from '../sqs/queue.ts';
import type { Delivery } from '../table/delivery-items.ts';

/** The queue of each attempt: the first one's, then a step of the ladder each. */
const queueOfAttempt = ['deliveries', 'firstRetry', 'secondRetry', 'thirdRetry'] as const;

/** The queues in which deliveries wait. */
export type DeliveryQueues = Record<(typeof queueOfAttempt)[number] | 'slowDeliveries', Queue<DeliveryMessage>>;

/** The messages that wake a worker for a delivery. A lost one loses time only, the sweeper sends another. */
export function openWakeUps(queues: DeliveryQueues, clock: () => number) {
  return {
    /**
     * Wakes a worker for each delivery when its next attempt is due, or at a later moment. SQS waits 15 minutes at
     * most: what is due later is met early, and sent on from there.
     *
     * @param at milliseconds since 1970
     */
    async send(deliveries: readonly { delivery: Delivery; at?: number }[]): Promise<void> {
      for (const [nth, name] of queueOfAttempt.entries()) {
        const waiting = deliveries.filter(({ delivery }) => delivery.attempt === nth + 1);
        await queues[name].send(
          waiting.map(({ delivery, at }) => ({
            message: messageOf(delivery),
            delaySeconds: secondsUntil(at ?? Date.parse(delivery.nextAttemptAt), clock()),
          })),
        );
      }
    },

    /**
     * Sends a message to the queue of slow webhooks.
     *
     * @param at when it is to be received, in milliseconds since 1970; at once if absent
     */
    async toSlowQueue(message: DeliveryMessage, at = clock()): Promise<void> {
      await queues.slowDeliveries.send([
        { message: { ...message, slow: true }, delaySeconds: secondsUntil(at, clock()) },
      ]);
    },
  };
}

/** Names a delivery's next attempt, and nothing of what it says. */
function messageOf({ organization, webhookId, id, attempt, nextAttemptAt, requestId }: Delivery): DeliveryMessage {
  return { organization, webhookId, deliveryId: id, attempt, dueAt: nextAttemptAt, ...(requestId && { requestId }) };
}
