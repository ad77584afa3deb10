import type { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { maxReceiveCount, queues as rows } from '../../../lib/deployment/queues.ts';
import { createQueueSender } from '../../../lib/sqs/queue.ts';
import { type DeliveryQueue, deliveryQueues as names } from '../../../lib/webhooks/attempt-messages.ts';
import type { Clock } from '../../service.ts';
import type { Faults } from './faults.ts';

/** A message in a queue: when it can be received next, and how often it was. */
export type QueuedMessage = { queue: DeliveryQueue; body: string; visibleAt: number; receives: number };

/**
 * SQS for the queues of deliveries under a clock, with the senders of the service: delays, visibility timeouts and dead
 * letters are those of the deployment.
 */
export function simulateQueues(clock: Clock, faults: Faults) {
  const held: QueuedMessage[] = [];
  const deadLetters: QueuedMessage[] = [];
  const lost = new Set<number>();
  let taken = 0;

  /** The client that a queue sends with; a fault may strike it with half of a batch taken. */
  function clientOf(queue: DeliveryQueue): SQSClient {
    const send = ({ input: { Entries = [] } }: SendMessageBatchCommand) =>
      faults.pass(queue === 'slowDeliveries' ? 'send to the slow queue' : 'send', async (half) => {
        for (const { MessageBody: body = '', DelaySeconds = 0 } of half
          ? Entries.slice(0, Math.floor(Entries.length / 2))
          : Entries)
          if (!lost.has(taken++)) held.push({ queue, body, visibleAt: clock() + DelaySeconds * 1000, receives: 0 });
        return {};
      });
    return { send } as unknown as SQSClient;
  }

  return {
    queues: new Map(names.map((name) => [name, createQueueSender(clientOf(name), name)])),

    /** How many messages were taken so far. */
    taken: () => taken,

    /** What is in the queues, and what has come too often. */
    held,
    deadLetters,

    /** The messages that nobody ever receives though they were taken, by their number from 0. */
    lost,

    /** What can be received now; it is hidden for its queue's time. */
    receive(): QueuedMessage[] {
      const received: QueuedMessage[] = [];
      for (const message of held.filter(({ visibleAt }) => visibleAt <= clock())) {
        message.receives += 1;
        message.visibleAt = clock() + rows[message.queue].visibilitySeconds * 1000;
        if (message.receives <= maxReceiveCount) received.push(message);
        else deadLetters.push(...held.splice(held.indexOf(message), 1));
      }
      return received;
    },

    /** Takes a message out for good; who had it too may say so again. */
    acknowledge(message: QueuedMessage): void {
      const at = held.indexOf(message);
      if (at >= 0) held.splice(at, 1);
    },

    /** Sends the dead letters back to their queues; returns whether there were any. */
    redrive(): boolean {
      const letters = deadLetters.splice(0);
      held.push(...letters.map((letter) => ({ ...letter, visibleAt: clock(), receives: 0 })));
      return letters.length > 0;
    },

    /** When something can be received next. */
    nextAt: (): number => Math.min(...held.map(({ visibleAt }) => visibleAt)),
  };
}
