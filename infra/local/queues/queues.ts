import type { QueueSender } from '../../../lib/aws/queue.ts';
import { maxReceiveCount, type QueueName, queues, workQueues } from '../../../lib/names/queues.ts';
import { createMemoryQueue, enqueueMessages, type MemoryQueue } from './memory-queue.ts';

/** The queues of `lib/names/queues.ts`, in memory. */
export type Queues = Readonly<Record<QueueName, MemoryQueue>>;

/**
 * The queues of first attempts; attempts of slow webhooks move to `slowDeliveries`. The messages of all other queues have a
 * `due` entry in the table, by which a start of the service sends them again.
 */
const firstAttempts: readonly QueueName[] = ['deliveries', 'slowDeliveries'];

/**
 * Creates the queues. They can be in memory because a start of the service sends every lost message again: first attempts
 * from the stream (see `record-batches.ts`), all others by the sweep.
 */
export function createQueues(): Queues {
  const common = (name: QueueName) => ({ visibilitySeconds: queues[name].visibilitySeconds });
  const deadLetters = createMemoryQueue(common('deadLetters'));
  const others = workQueues.map((name) => {
    const holdsPosition = firstAttempts.includes(name);
    const redrive = { deadLetters: { queue: deadLetters, maxReceiveCount } };
    return [name, createMemoryQueue({ ...common(name), ...redrive, holdsPosition })];
  });
  return { ...Object.fromEntries(others), deadLetters };
}

/** Returns the senders of the queues, for the context of this process. */
export function sendersOf(queues: Queues): Map<QueueName, QueueSender> {
  const senderOf =
    (queue: MemoryQueue): QueueSender =>
    async (messages) => {
      const bodies = messages.map(({ message, delaySeconds }) => ({ body: JSON.stringify(message), delaySeconds }));
      enqueueMessages(queue, bodies);
    };
  return new Map(Object.entries(queues).map(([name, queue]) => [name as QueueName, senderOf(queue)]));
}
