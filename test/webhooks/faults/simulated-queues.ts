import type { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { createQueueSender } from '../../../lib/aws/queue.ts';
import { maxReceiveCount, queues as rows } from '../../../lib/names/queues.ts';
import { type DeliveryQueue, deliveryQueues as names } from '../../../lib/webhooks/attempts/attempt-messages.ts';
import type { Clock } from '../../service.ts';
import type { Faults } from './faults.ts';

/** A message in a queue, when it is visible next, and how often it was received. */
export type QueuedMessage = { queue: DeliveryQueue; body: string; visibleAt: number; receives: number };

/**
 * Simulates the SQS queues of deliveries, with the delays, visibility timeouts and dead letters of the deployment.
 */
export function simulateQueues(clock: Clock, faults: Faults) {
  const held: QueuedMessage[] = [];
  const deadLetters: QueuedMessage[] = [];
  const lost = new Set<number>();
  let taken = 0;

  function clientOf(queue: DeliveryQueue): SQSClient {
    const point = queue === 'slowDeliveries' ? 'send to the slow queue' : 'send';
    const send = ({ input: { Entries = [] } }: SendMessageBatchCommand) =>
      faults.pass(point, async (half) => {
        const accepted = half ? Entries.slice(0, Math.floor(Entries.length / 2)) : Entries;
        for (const { MessageBody: body = '', DelaySeconds = 0 } of accepted)
          if (!lost.has(taken++)) held.push({ queue, body, visibleAt: clock() + DelaySeconds * 1000, receives: 0 });
        return {};
      });
    return { send } as unknown as SQSClient;
  }

  return {
    queues: new Map(names.map((name) => [name, createQueueSender(clientOf(name), name)])),

    taken: () => taken,

    held,
    deadLetters,

    /** The numbers, from 0, of accepted messages that the queue loses. */
    lost,

    /** Receives all visible messages, which are then hidden for their queue's time. */
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

    acknowledge(message: QueuedMessage): void {
      const at = held.indexOf(message);
      if (at >= 0) held.splice(at, 1);
    },

    /** Redrives the dead letters, and returns whether there were any. */
    redrive(): boolean {
      const letters = deadLetters.splice(0);
      held.push(...letters.map((letter) => ({ ...letter, visibleAt: clock(), receives: 0 })));
      return letters.length > 0;
    },

    nextAt: (): number => Math.min(...held.map(({ visibleAt }) => visibleAt)),
  };
}
