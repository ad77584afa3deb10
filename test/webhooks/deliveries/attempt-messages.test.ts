import { describe, expect, it } from 'vitest';
import { timestamp } from '../../../lib/contract/ids.ts';
import type { Organization } from '../../../lib/contract/organization.ts';
import type { DeliveryMessage, SentDelivery } from '../../../lib/deployment/messages.ts';
import type { QueueSender } from '../../../lib/sqs/queue.ts';
import {
  type DeliveryQueue,
  deliveryQueues,
  sendAttemptMessages,
} from '../../../lib/webhooks/deliveries/attempt-messages.ts';

const now = Date.parse('2026-03-01T12:00:00.000Z');

/** Returns the function that sends messages of attempts at a fixed time, and what it puts in which queue. */
function messageSender() {
  const sent: { to: DeliveryQueue; message: SentDelivery; delaySeconds: number }[] = [];
  const senderOf =
    (to: DeliveryQueue): QueueSender =>
    async (messages) =>
      void sent.push(
        ...messages.map(({ message, delaySeconds }) => ({ to, message: message as SentDelivery, delaySeconds })),
      );
  const queues = new Map(deliveryQueues.map((name) => [name, senderOf(name)]));
  const context = { variables: {}, clients: {}, queues, clock: () => now };
  const send = (messages: DeliveryMessage[], notBefore?: number) => sendAttemptMessages(context, messages, notBefore);
  return { sent, send };
}

const messageOf = (attempt = 1, dueAt = timestamp(now)): DeliveryMessage => ({
  organization: 'org' as Organization,
  webhookId: 'wh_01K00000000000000000000000',
  deliveryId: `dlv_01K0000000000000000000000${attempt}`,
  eventId: 'ev_01K00000000000000000000000',
  attempt,
  dueAt,
});

/** Returns the delay of the message of an attempt that is due in some milliseconds. */
async function delayFor(milliseconds: number): Promise<number | undefined> {
  const { sent, send } = messageSender();
  await send([messageOf(2, timestamp(now + milliseconds))]);
  return sent[0]?.delaySeconds;
}

describe('the message of an attempt', () => {
  it('goes to the queue of its attempt: the first, then one for each step of the retry schedule', async () => {
    const { sent, send } = messageSender();
    await send([4, 2, 1, 3, 1].map((attempt) => messageOf(attempt)));
    expect(sent.map(({ to, message }) => `${message.attempt} ${to}`).sort()).toEqual([
      '1 deliveries',
      '1 deliveries',
      '2 firstRetry',
      '3 secondRetry',
      '4 thirdRetry',
    ]);
  });

  it('has its time under another name than in the previous version, which would take the delivery for ended', async () => {
    const { sent, send } = messageSender();
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
  ])('that is due in %i ms is delayed by %i s: never too short, up to 15 minutes', async (milliseconds, seconds) => {
    expect(await delayFor(milliseconds)).toBe(seconds);
  });

  it('is delayed until a later time that is given', async () => {
    const { sent, send } = messageSender();
    await send([messageOf()], now + 12_345);
    await send([messageOf(1, timestamp(now + 20_000))], now + 12_345);
    expect(sent).toMatchObject([
      { to: 'deliveries', delaySeconds: 13, message: { due: timestamp(now) } },
      { to: 'deliveries', delaySeconds: 20, message: { due: timestamp(now + 20_000) } },
    ]);
  });

  it('is not sent if there are no attempts', async () => {
    const { sent, send } = messageSender();
    await send([]);
    expect(sent).toEqual([]);
  });
});

describe('the message of an attempt to a slow webhook', () => {
  it.each([1, 2, 3, 4])('goes to the queue of slow webhooks and says so, at attempt %i', async (attempt) => {
    const { sent, send } = messageSender();
    await send([{ ...messageOf(attempt), slow: true }]);
    expect(sent).toMatchObject([{ to: 'slowDeliveries', delaySeconds: 0, message: { attempt, slow: true } }]);
  });
});
