import type { DeliveryMessage, SentDelivery } from '../../deployment/messages.ts';
import { type QueueContext, secondsUntil, sendMessages } from '../../sqs/queue.ts';

/** The part of a context that sending the messages of attempts needs. */
export type AttemptMessageContext = QueueContext & { clock: () => number };

/** The queue of each attempt: the first attempt, then the steps of the retry schedule. */
const queueOfAttempt = ['deliveries', 'firstRetry', 'secondRetry', 'thirdRetry'] as const;

/** The names of the queues that hold messages of attempts. */
export const deliveryQueues = [...queueOfAttempt, 'slowDeliveries'] as const;

/** The name of a queue that holds messages of attempts. */
export type DeliveryQueue = (typeof deliveryQueues)[number];

/** Returns the form in which the message of an attempt is sent. It is not beside the schemas, which senders do not need. */
export function sentForm({ dueAt, ...rest }: DeliveryMessage): SentDelivery {
  return { ...rest, due: dueAt };
}

/**
 * Sends messages to the queues of their attempts, or to the queue of slow webhooks. Each is delayed until it is due, but
 * SQS delays it by 15 minutes at most: a message that is received early is sent again.
 *
 * @param notBefore a later time to receive them (Unix time, in ms)
 */
export async function sendAttemptMessages(
  context: AttemptMessageContext,
  messages: readonly DeliveryMessage[],
  notBefore = 0,
): Promise<void> {
  const delayed = (message: DeliveryMessage) => ({
    message: sentForm(message),
    delaySeconds: secondsUntil(Math.max(Date.parse(message.dueAt), notBefore), context.clock()),
  });
  await Promise.all(
    [...Map.groupBy(messages, queueOf)].map(([queue, group]) => sendMessages(context, queue, group.map(delayed))),
  );
}

function queueOf({ attempt, slow, redelivery, scheduleStart = 1 }: DeliveryMessage): DeliveryQueue {
  if (slow) return 'slowDeliveries';
  return redelivery ? 'deliveries' : (queueOfAttempt[attempt - scheduleStart] ?? 'deliveries');
}
