import type { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import * as v from 'valibot';
import { DeliveryMessage } from '../../../lib/deployment/messages.ts';
import type { Polling } from '../../../lib/deployment/polling.ts';
import { createQueueSender } from '../../../lib/sqs/queue.ts';
import { type DeliveryQueue, deliveryQueues } from '../../../lib/webhooks/deliveries/attempt-messages.ts';
import type { SimulatedTime } from './simulated-time.ts';

/** Processes messages side by side in one container, as a function does with a batch. */
type Container = (message: DeliveryMessage) => Promise<unknown>;

/** How long requests to AWS and the start of a container take, in milliseconds. */
export const awsMs = { table: 5, send: 10, coldStart: 500 } as const;

/**
 * Simulates SQS and Lambda: a call takes the visible messages of a queue in order, up to the batch size, and ends with the
 * slowest of them. At most `concurrency` calls of a queue run at the same time, all in containers of one function.
 *
 * @returns the queues
 */
export function simulateLambda(
  time: SimulatedTime,
  polling: Record<DeliveryQueue, Polling>,
  createContainer: () => Container,
) {
  const idle: Container[] = [];

  async function call(batch: DeliveryMessage[]): Promise<void> {
    let container = idle.pop();
    if (!container) {
      container = createContainer();
      await time.sleep(awsMs.coldStart);
    }
    await Promise.all(batch.map(container));
    idle.push(container);
  }

  /** Returns a function that receives the messages of a queue. */
  function receiverOf({ batchSize, concurrency }: Polling) {
    const visible: DeliveryMessage[] = [];
    let running = 0;

    const poll = () => {
      while (visible.length > 0 && running < concurrency) {
        running += 1;
        void call(visible.splice(0, batchSize)).then(() => {
          running -= 1;
          poll();
        });
      }
    };
    return (message: DeliveryMessage) => {
      visible.push(message);
      poll();
    };
  }

  const senderOf = (name: DeliveryQueue) => {
    const receive = receiverOf(polling[name]);
    const send = async ({ input: { Entries = [] } }: SendMessageBatchCommand) => {
      await time.sleep(awsMs.send);
      for (const { MessageBody = '', DelaySeconds = 0 } of Entries)
        time.startTimer(() => receive(v.parse(DeliveryMessage, JSON.parse(MessageBody))), DelaySeconds * 1_000);
      return {};
    };
    return createQueueSender({ send } as unknown as SQSClient, name);
  };
  return new Map(deliveryQueues.map((name) => [name, senderOf(name)]));
}
