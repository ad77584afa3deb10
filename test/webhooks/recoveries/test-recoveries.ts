import type { NewRecovery } from '../../../lib/contract/webhooks/recoveries.ts';
import type { DeliveryMessage } from '../../../lib/names/messages.ts';
import { sweepDeliveries } from '../../../lib/webhooks/deliveries/sweep.ts';
import { carryOut } from '../../../lib/webhooks/orders/carry-out.ts';
import { getRecovery, recoverWebhook } from '../../../lib/webhooks/recoveries/recovery.ts';
import { sweepRecoveries } from '../../../lib/webhooks/recoveries/sweep.ts';
import { failed, notingSender, startTime, type TestWebhooks } from '../test-webhooks.ts';

const minuteMs = 60_000;

/** All events since the start of a test. */
const all = { since: startTime, include: ['exhausted', 'skipped', 'never_sent'] } satisfies NewRecovery;

/** Publishes an event, all of whose attempts fail. Returns the message of its first attempt. */
export async function exhaust(webhooks: TestWebhooks): Promise<DeliveryMessage> {
  const message = await webhooks.nextMessage();
  await webhooks.attemptAll(message, notingSender(failed).send);
  return message;
}

/** Publishes events that are delivered or fail, one each second; all attempts of the failed ones are made at the end. */
export async function exhaustAll(webhooks: TestWebhooks, number: number): Promise<DeliveryMessage[]> {
  const messages: DeliveryMessage[] = [];
  for (let at = 0; at < number; at++) {
    messages.push(await webhooks.nextMessage());
    webhooks.clock.now += 1_000;
  }
  for (const message of messages) await webhooks.attemptAll(message, notingSender(failed).send);
  return messages;
}

/** Requests a recovery, of all events by default. */
export const recover = (webhooks: TestWebhooks, webhookId: string, body: Partial<NewRecovery> = {}) =>
  recoverWebhook(webhooks, webhooks.organization, webhookId, { ...all, ...body }, undefined);

/** Returns a recovery with its progress. */
export const progressOf = (webhooks: TestWebhooks, webhookId: string, recoveryId: string | undefined) =>
  getRecovery(webhooks, webhooks.organization, webhookId, recoveryId as string);

/** A message with the time when it can be received (Unix time, in ms). */
type Sent = { to: string; message: DeliveryMessage; at: number };

/** Runs the sweeps of recoveries and deliveries, and returns the messages that they have sent. */
export async function sweep(webhooks: TestWebhooks, until = webhooks.clock()): Promise<Sent[]> {
  const { queue, clock } = webhooks;
  const before = queue.sent.length;
  await sweepRecoveries(webhooks, { until, hasTime: () => true });
  await sweepDeliveries(webhooks, { until, hasTime: () => true });
  return queue.sent
    .slice(before)
    .map(({ to, message, delaySeconds }) => ({ to, message, at: clock() + delaySeconds * 1_000 }));
}

/**
 * Makes each attempt, and carries out each order, when its message can be received, and sweeps every minute, until the recovery is
 * completed.
 */
export async function runToEnd(
  webhooks: TestWebhooks,
  webhookId: string,
  recoveryId: string | undefined,
  sender = notingSender().send,
): Promise<{ deliveryId: string; attempt: number; at: number }[]> {
  const { clock, queue } = webhooks;
  const made: { deliveryId: string; attempt: number; at: number }[] = [];
  const hourLater = clock() + 60 * minuteMs;
  let [sent, orders] = [queue.sent.length, queue.orders.length];
  let waiting: { at: number; process: () => Promise<unknown> }[] = [];
  for (let sweepAt = clock(); clock() < hourLater; ) {
    const received = [
      ...queue.sent.slice(sent).map(({ message, delaySeconds }) => ({ delaySeconds, process: () => attempt(message) })),
      ...queue.orders.slice(orders).map(({ message, delaySeconds }) => ({
        delaySeconds,
        process: () => carryOut(webhooks, message),
      })),
    ];
    [sent, orders] = [queue.sent.length, queue.orders.length];
    waiting.push(...received.map(({ delaySeconds, process }) => ({ at: clock() + delaySeconds * 1_000, process })));
    if ((await progressOf(webhooks, webhookId, recoveryId)).status === 'completed') return made;
    const next = waiting.toSorted((a, b) => a.at - b.at)[0];
    if (next && next.at < sweepAt) {
      waiting = waiting.filter((one) => one !== next);
      clock.now = Math.max(clock.now, next.at);
      await next.process();
    } else {
      clock.now = Math.max(clock.now, sweepAt);
      sweepAt += minuteMs;
      await sweepRecoveries(webhooks, { until: clock(), hasTime: () => true });
      await sweepDeliveries(webhooks, { until: clock(), hasTime: () => true });
    }
  }
  throw new Error('The recovery has not ended within an hour.');

  async function attempt(message: DeliveryMessage): Promise<void> {
    await webhooks.deliver(message, sender);
    made.push({ deliveryId: message.deliveryId, attempt: message.attempt, at: clock() });
  }
}
