import type { DeliveryMessage, SentDelivery } from '../deployment/messages.ts';
import { type Queue, secondsUntil } from '../sqs/queue.ts';

/** The queue of each attempt: the first one's, then a step of the ladder each. */
const queueOfAttempt = ['deliveries', 'firstRetry', 'secondRetry', 'thirdRetry'] as const;

/** The names of the queues in which deliveries wait. */
export const deliveryQueues = [...queueOfAttempt, 'slowDeliveries'] as const;

/** The queues in which deliveries wait. */
export type DeliveryQueues = Record<(typeof deliveryQueues)[number], Queue<SentDelivery>>;

/** An attempt in the form in which it is sent. It is not beside the schemas, which whoever sends need not carry. */
export function sentForm({ dueAt, ...rest }: DeliveryMessage): SentDelivery {
  return { ...rest, due: dueAt };
}

/** Sends the messages of attempts. */
export function openWakeUps(queues: DeliveryQueues, clock: () => number) {
  return {
    /**
     * Sends messages to the queues of their attempts, or of slow webhooks, to be received when they are due. SQS waits 15
     * minutes at most: what is due later is met early, and sent on from there.
     *
     * @param notBefore a later moment to receive them at, in milliseconds since 1970
     */
    async send(messages: readonly DeliveryMessage[], notBefore = 0): Promise<void> {
      const waiting = (message: DeliveryMessage) => ({
        message: sentForm(message),
        delaySeconds: secondsUntil(Math.max(Date.parse(message.dueAt), notBefore), clock()),
      });
      await Promise.all(
        [...Map.groupBy(messages, queueOf)].map(([name, group]) => queues[name].send(group.map(waiting))),
      );
    },
  };
}

function queueOf({ attempt, slow }: DeliveryMessage): keyof DeliveryQueues {
  return slow ? 'slowDeliveries' : (queueOfAttempt[attempt - 1] as (typeof queueOfAttempt)[number]);
}
