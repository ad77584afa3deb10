import { maxReceiveCount, type QueueName, queues, workQueues } from '../../lib/contract/deployment.ts';
import type { Queue } from '../../lib/sqs/queue.ts';
import { createMemoryQueue, type MemoryQueue, type QueueTime, sendMessages } from './memory-queue.ts';

/** The queues of the contract, in memory. */
export type Queues = Readonly<Record<QueueName, MemoryQueue>>;

/** Creates the queues. They start empty: the table knows what waited in them, and a sweep at the start sends it again. */
export function createQueues(time?: QueueTime): Queues {
  const common = (name: QueueName) => ({ visibilitySeconds: queues[name].visibilitySeconds, ...(time && { time }) });
  const deadLetters = createMemoryQueue(common('deadLetters'));
  const others = workQueues.map((name) => {
    const redrive = { deadLetters: { queue: deadLetters, maxReceiveCount } };
    return [name, createMemoryQueue({ ...common(name), ...redrive })];
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
