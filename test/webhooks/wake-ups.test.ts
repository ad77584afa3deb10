import { describe, expect, it } from 'vitest';
import { timestamp } from '../../lib/contract/ids.ts';
import type { Organization } from '../../lib/contract/organization.ts';
import type { DeliveryMessage, SentDelivery } from '../../lib/deployment/messages.ts';
import type { Waiting } from '../../lib/sqs/queue.ts';
import { type DeliveryQueues, deliveryQueues, openWakeUps } from '../../lib/webhooks/wake-ups.ts';

const now = Date.parse('2026-03-01T12:00:00.000Z');

/** Wake-ups at a standing moment, and what they put in which queue. */
function wakeUps() {
  const sent: ({ to: keyof DeliveryQueues } & Waiting<SentDelivery>)[] = [];
  const queue = (to: keyof DeliveryQueues) => ({
    send: async (messages: readonly Waiting<SentDelivery>[]) =>
      void sent.push(...messages.map((waiting) => ({ to, ...waiting }))),
  });
  const queues = Object.fromEntries(deliveryQueues.map((name) => [name, queue(name)])) as DeliveryQueues;
  return { sent, ...openWakeUps(queues, () => now) };
}

const messageOf = (attempt = 1, dueAt = timestamp(now)): DeliveryMessage => ({
  organization: 'org' as Organization,
  webhookId: 'wh_01K00000000000000000000000',
  deliveryId: `dlv_01K0000000000000000000000${attempt}`,
  eventId: 'ev_01K00000000000000000000000',
  attempt,
  dueAt,
});

/** The delay of a wake-up for what is due so many milliseconds from now. */
async function delayFor(milliseconds: number): Promise<number | undefined> {
  const { sent, send } = wakeUps();
  await send([messageOf(2, timestamp(now + milliseconds))]);
  return sent[0]?.delaySeconds;
}

describe('a wake-up', () => {
  it('goes to the queue of its attempt: the first one’s, then a step of the ladder each', async () => {
    const { sent, send } = wakeUps();
    await send([4, 2, 1, 3, 1].map((attempt) => messageOf(attempt)));
    expect(sent.map(({ to, message }) => `${message.attempt} ${to}`).sort()).toEqual([
      '1 deliveries',
      '1 deliveries',
      '2 firstRetry',
      '3 secondRetry',
      '4 thirdRetry',
    ]);
  });

  it('calls its moment otherwise than the version before, which would take it for one of an ended delivery', async () => {
    const { sent, send } = wakeUps();
    const { dueAt, ...named } = messageOf(2);
    await send([{ ...named, dueAt }]);
    expect(sent.map(({ message }) => message)).toEqual([{ ...named, due: dueAt }]);
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

  it('waits for a later moment that it is told', async () => {
    const { sent, send } = wakeUps();
    await send([messageOf()], now + 12_345);
    await send([messageOf(1, timestamp(now + 20_000))], now + 12_345);
    expect(sent).toMatchObject([
      { to: 'deliveries', delaySeconds: 13, message: { due: timestamp(now) } },
      { to: 'deliveries', delaySeconds: 20, message: { due: timestamp(now + 20_000) } },
    ]);
  });

  it('is sent for nothing where there is nothing', async () => {
    const { sent, send } = wakeUps();
    await send([]);
    expect(sent).toEqual([]);
  });
});

describe('a wake-up for the queue of slow webhooks', () => {
  it.each([1, 2, 3, 4])('goes there and says so, at attempt %i', async (attempt) => {
    const { sent, send } = wakeUps();
    await send([{ ...messageOf(attempt), slow: true }]);
    expect(sent).toMatchObject([{ to: 'slowDeliveries', delaySeconds: 0, message: { attempt, slow: true } }]);
  });
});
