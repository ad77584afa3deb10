import { describe, expect, it } from 'vitest';
import { timestamp } from '../../lib/contract/ids.ts';
import type { DeliveryMessage } from '../../lib/contract/messages.ts';
import type { Organization } from '../../lib/contract/organization.ts';
import type { Waiting } from '../../lib/sqs/queue.ts';
import type { Delivery } from '../../lib/table/delivery-items.ts';
import { type DeliveryQueues, openWakeUps } from '../../lib/webhooks/wake-ups.ts';

const now = Date.parse('2026-03-01T12:00:00.000Z');

/** Wake-ups at a standing moment, and what they put in which queue. */
function wakeUps() {
  const sent: ({ to: keyof DeliveryQueues } & Waiting<DeliveryMessage>)[] = [];
  const queue = (to: keyof DeliveryQueues) => ({
    send: async (messages: readonly Waiting<DeliveryMessage>[]) =>
      void sent.push(...messages.map((waiting) => ({ to, ...waiting }))),
  });
  const queues = {
    deliveries: queue('deliveries'),
    slowDeliveries: queue('slowDeliveries'),
    firstRetry: queue('firstRetry'),
    secondRetry: queue('secondRetry'),
    thirdRetry: queue('thirdRetry'),
  };
  return { sent, ...openWakeUps(queues, () => now) };
}

const delivery = (attempt = 1, nextAttemptAt = timestamp(now)): Delivery => ({
  organization: 'org' as Organization,
  webhookId: 'wh_01K00000000000000000000000',
  id: `dlv_01K0000000000000000000000${attempt}`,
  event: 'task.created',
  data: '{"task":{"title":"private words"}}',
  state: attempt === 1 ? 'pending' : 'retrying',
  attempt,
  nextAttemptAt,
});

/** The delay of a wake-up for what is due so many milliseconds from now. */
async function delayFor(milliseconds: number): Promise<number | undefined> {
  const { sent, send } = wakeUps();
  await send([{ delivery: delivery(2, timestamp(now + milliseconds)) }]);
  return sent[0]?.delaySeconds;
}

describe('a wake-up', () => {
  it('goes to the queue of its attempt: the first one’s, then a step of the ladder each', async () => {
    const { sent, send } = wakeUps();
    await send([4, 2, 1, 3, 1].map((attempt) => ({ delivery: delivery(attempt) })));
    expect(sent.map(({ to, message }) => `${message.attempt} ${to}`)).toEqual([
      '1 deliveries',
      '1 deliveries',
      '2 firstRetry',
      '3 secondRetry',
      '4 thirdRetry',
    ]);
  });

  it('names the attempt and its moment, and nothing of what the delivery says', async () => {
    const { sent, send } = wakeUps();
    await send([{ delivery: { ...delivery(2), claim: 'a claim', leaseUntil: timestamp(now) } }]);
    expect(sent.map(({ message }) => message)).toEqual([
      {
        organization: 'org',
        webhookId: 'wh_01K00000000000000000000000',
        deliveryId: 'dlv_01K00000000000000000000002',
        attempt: 2,
        dueAt: timestamp(now),
      },
    ]);
  });

  it.each([
    [-86_400_000, 0],
    [-1, 0],
    [0, 0],
    [1, 1],
    [999, 1],
    [1_000, 1],
    [1_001, 2],
    [299_999, 300],
    [300_000, 300],
    [899_001, 900],
    [900_000, 900],
    [900_001, 900],
    [7_200_000, 900],
  ])('for %i ms from now waits %i s: never a moment too short, up to 15 minutes', async (milliseconds, seconds) => {
    expect(await delayFor(milliseconds)).toBe(seconds);
  });

  it('waits for the moment that it is told, where that is not the attempt’s', async () => {
    const { sent, send } = wakeUps();
    await send([{ delivery: delivery(), at: now + 12_345 }]);
    expect(sent).toMatchObject([{ to: 'deliveries', delaySeconds: 13, message: { dueAt: timestamp(now) } }]);
  });

  it('is sent for nothing where there is nothing', async () => {
    const { sent, send } = wakeUps();
    await send([]);
    expect(sent).toEqual([]);
  });
});

describe('a wake-up for the lane of slow webhooks', () => {
  it.each([1, 2, 3, 4])('goes there at once and says so, at attempt %i', async (attempt) => {
    const { sent, toSlowQueue } = wakeUps();
    const message: DeliveryMessage = {
      organization: 'org' as Organization,
      webhookId: 'wh_01K00000000000000000000000',
      deliveryId: 'dlv_01K00000000000000000000000',
      attempt,
      dueAt: timestamp(now),
    };
    await toSlowQueue(message);
    expect(sent).toEqual([{ to: 'slowDeliveries', delaySeconds: 0, message: { ...message, slow: true } }]);
  });
});
