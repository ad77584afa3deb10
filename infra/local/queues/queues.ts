import { maxReceiveCount, type QueueName, queues, workQueues } from '../../../lib/deployment/queues.ts';
import type { Queue } from '../../../lib/sqs/queue.ts';
import { createMemoryQueue, type MemoryQueue, type QueueTime, sendMessages } from './memory-queue.ts';

/** The queues of the contract, in memory. */
export type Queues = Readonly<Record<QueueName, MemoryQueue>>;

/**
 * The queues of first attempts. A slow webhook's first attempt is passed on to the second. What is in all others is found
 * again by its `due` entry when the service starts.
 */
const firstAttempts: readonly QueueName[] = ['deliveries', 'slowDeliveries'];

/**
 * Creates the queues. They are in memory because everything in them can be found again: see `first-attempts.ts` for
 * first attempts, and the sweep at the start for the others.
 */
export function createQueues(time?: QueueTime): Queues {
  const common = (name: QueueName) => ({ visibilitySeconds: queues[name].visibilitySeconds, ...(time && { time }) });
  const deadLetters = createMemoryQueue(common('deadLetters'));
  const others = workQueues.map((name) => {
    const holdsPosition = firstAttempts.includes(name);
    const redrive = { deadLetters: { queue: deadLetters, maxReceiveCount } };
    return [name, createMemoryQueue({ ...common(name), ...redrive, holdsPosition })];
  });
  return { ...Object.fromEntries(others), deadLetters };
}

/** Returns what this process sends to a queue with. */
export function senderOf<Message>(queue: MemoryQueue): Queue<Message> {
  return {
    send: async (messages) => {
      sendMessages(
        queue,
        messages.map(({ message, delaySeconds }) => ({ body: JSON.stringify(message), delaySeconds })),
      );
    },
  };
}
