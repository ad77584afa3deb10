import type { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import * as v from 'valibot';
import { DeliveryMessage } from '../../../lib/deployment/messages.ts';
import type { Polling } from '../../../lib/deployment/polling.ts';
import { queues as rows } from '../../../lib/deployment/queues.ts';
import { createQueueSender } from '../../../lib/sqs/queue.ts';
import {
  type DeliveryQueue as Name,
  deliveryQueues as names,
} from '../../../lib/webhooks/deliveries/attempt-messages.ts';
import type { SimulatedTime } from './simulated-time.ts';

/** How a queue misbehaves: within what SQS says of standard queues, but far more often. */
export type Misbehaviour = {
  /** The moments at which a message that was just sent arrives, in milliseconds after its delay: one for each copy. */
  arrivals: () => number[];
  /** When a message that was just received comes again though its attempt runs, in milliseconds; absent: it does not. */
  comesAgain: () => number | undefined;
  /** The index of the message that is received next, of `messages`. */
  pick: (messages: number) => number;
};

const behaved: Misbehaviour = { arrivals: () => [0], comesAgain: () => undefined, pick: () => 0 };

/** Processes messages side by side in one container, as a function does with a batch. Returns `lost` if it dies meanwhile. */
export type Container = (message: DeliveryMessage) => Promise<unknown>;

/** How long requests to AWS and the start of a container take, in milliseconds. */
export const awsMs = { table: 5, send: 10, coldStart: 500 } as const;

/** How many calls of a queue Lambda starts with, and how many more it makes each second (Lambda Developer Guide). */
export const rampOfLambda = { calls: 5, perSecond: 5 };

/**
 * SQS and Lambda's event source mapping under simulated time: a call takes what can be received, up to the batch size,
 * and ends with the slowest of its messages, which are received again if its container is lost. At most `concurrency`
 * calls of a queue run at the same time, all in containers of one function. Messages are received in the order in which they become visible: no queue is fair.
 *
 * @param ramp how the concurrency of a queue grows while messages wait; absent: it is there at once
 * @param misbehaviour absent: each message is received once, in order
 */
export function simulateLambda(
  time: SimulatedTime,
  polling: Record<Name, Polling>,
  createContainer: () => Container,
  { ramp, misbehaviour = behaved }: { ramp?: typeof rampOfLambda | undefined; misbehaviour?: Misbehaviour } = {},
) {
  const idle: Container[] = [];
  const sources = Object.fromEntries(names.map((name) => [name, sourceOf(name, polling[name])])) as Record<
    Name,
    ReturnType<typeof sourceOf>
  >;

  /** Processes messages in a container, and returns those that it was lost with. */
  async function call(batch: DeliveryMessage[]): Promise<DeliveryMessage[]> {
    let container = idle.pop();
    if (!container) {
      container = createContainer();
      await time.sleep(awsMs.coldStart);
    }
    const ends = await Promise.all(batch.map(container));
    if (!ends.includes('lost')) idle.push(container);
    return batch.filter((_, at) => ends[at] === 'lost');
  }

  function sourceOf(name: Name, { batchSize, concurrency }: Polling) {
    const visibilityMs = rows[name].visibilitySeconds * 1_000;
    const visible: DeliveryMessage[] = [];
    let running = 0;
    let most = 0;
    let pollers = ramp?.calls ?? concurrency;
    let growing = false;

    const grow = () => {
      growing = visible.length > 0 && pollers < concurrency;
      if (!growing || !ramp) return;
      pollers += 1;
      poll();
      time.startTimer(grow, 1_000 / ramp.perSecond);
    };
    const poll = () => {
      while (visible.length > 0 && running < Math.min(pollers, concurrency)) {
        running += 1;
        most = Math.max(most, running);
        const batch: DeliveryMessage[] = [];
        while (visible.length > 0 && batch.length < batchSize)
          batch.push(...visible.splice(misbehaviour.pick(visible.length), 1));
        for (const message of batch) {
          const againMs = misbehaviour.comesAgain();
          if (againMs !== undefined) time.startTimer(() => source.receive(message), againMs);
        }
        void call(batch).then((lost) => {
          running -= 1;
          for (const message of lost) time.startTimer(() => source.receive(message), visibilityMs);
          poll();
        });
      }
      if (ramp && !growing && visible.length > 0 && pollers < concurrency) {
        growing = true;
        time.startTimer(grow, 1_000 / ramp.perSecond);
      }
    };
    const source = {
      /** The most calls that ran at the same time. */
      most: () => most,
      receive: (message: DeliveryMessage) => {
        visible.push(message);
        poll();
      },
    };
    return source;
  }

  const senderOf = (name: Name) => {
    const send = async ({ input: { Entries = [] } }: SendMessageBatchCommand) => {
      await time.sleep(awsMs.send);
      for (const { MessageBody = '', DelaySeconds = 0 } of Entries)
        time.startTimer(
          () => sources[name].receive(v.parse(DeliveryMessage, JSON.parse(MessageBody))),
          DelaySeconds * 1_000,
        );
      return {};
    };
    return createQueueSender({ send } as unknown as SQSClient, name);
  };

  return {
    queues: new Map(names.map((name) => [name, senderOf(name)])),
    mostCalls: () => Object.fromEntries(names.map((name) => [name, sources[name].most()])) as Record<Name, number>,
  };
}
