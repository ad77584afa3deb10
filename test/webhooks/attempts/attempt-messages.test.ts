import { describe, expect, it } from 'vitest';
import type { DelayedMessage, QueueSender } from '../../../lib/aws/queue.ts';
import { timestamp } from '../../../lib/contract/ids.ts';
import type { Organization } from '../../../lib/contract/organization.ts';
import type { DeliveryMessage } from '../../../lib/names/messages.ts';
import { readRetrySchedule } from '../../../lib/settings/retry-schedule.ts';
import { deliveryQueues, sendAttemptMessages } from '../../../lib/webhooks/attempts/attempt-messages.ts';

const now = Date.parse('2026-03-01T12:00:00.000Z');

/** Sends messages of attempts, and returns what that puts in which queue. */
async function send(messages: DeliveryMessage[], notBefore?: number) {
  const sent: (DelayedMessage<unknown> & { to: string })[] = [];
  const senderOf =
    (to: string): QueueSender =>
    async (messages) =>
      void sent.push(...messages.map((one) => ({ to, ...one })));
  const queues = new Map(deliveryQueues.map((name) => [name, senderOf(name)]));
  const retrySchedule = readRetrySchedule(undefined);
  await sendAttemptMessages(
    { variables: {}, clients: {}, queues, clock: () => now, retrySchedule },
    messages,
    notBefore,
  );
  return sent;
}

const messageOf = (attempt = 1, dueAt = timestamp(now)): DeliveryMessage => ({
  organization: 'org' as Organization,
  webhookId: 'wh_01K00000000000000000000000',
  deliveryId: `dlv_01K0000000000000000000000${attempt}`,
  eventId: 'ev_01K00000000000000000000000',
  attempt,
  dueAt,
});

describe('the message of an attempt', () => {
  it('goes to the queue of its attempt: the first, then one for each step of the retry schedule', async () => {
    const sent = await send([4, 2, 1, 3, 1].map((attempt) => messageOf(attempt)));
    expect(sent).toMatchObject([
      { to: 'thirdRetry', message: { attempt: 4 } },
      { to: 'firstRetry', message: { attempt: 2 } },
      { to: 'deliveries', message: { attempt: 1 } },
      { to: 'deliveries', message: { attempt: 1 } },
      { to: 'secondRetry', message: { attempt: 3 } },
    ]);
  });

  it.each([1, 4])(
    'to a slow webhook goes to the queue of slow webhooks and says so, at attempt %i',
    async (attempt) => {
      expect(await send([{ ...messageOf(attempt), slow: true }])).toMatchObject([
        { to: 'slowDeliveries', delaySeconds: 0, message: { attempt, slow: true } },
      ]);
    },
  );

  it('has its time under another name than in the previous version, which would take the delivery for ended', async () => {
    const { dueAt, ...named } = messageOf(2);
    expect(await send([{ ...named, dueAt }])).toMatchObject([{ message: { ...named, due: dueAt } }]);
    expect(await send([{ ...named, dueAt }])).not.toMatchObject([{ message: { dueAt } }]);
  });

  it.each([
    [-86_400_000, 0],
    [0, 0],
    [1, 1],
    [1_000, 1],
    [1_001, 2],
    [899_001, 900],
    [900_001, 900],
    [7_200_000, 900],
  ])('that is due in %i ms is delayed by %i s: never too short, up to 15 minutes', async (milliseconds, seconds) => {
    expect(await send([messageOf(4, timestamp(now + milliseconds))])).toMatchObject([{ delaySeconds: seconds }]);
  });

  it.each<[string, Partial<DeliveryMessage>, number]>([
    ['a first attempt', { attempt: 1 }, 0],
    ['the first retry', { attempt: 2 }, 300],
    ['the retry of an attempt of a recovery', { attempt: 6, scheduleStart: 5 }, 300],
    ['an attempt of a recovery', { attempt: 5, scheduleStart: 5 }, 300],
    ['a redelivery', { attempt: 3, redelivery: true }, 0],
  ])('of %s that a clock an hour ahead has made waits for its step, and no longer', async (_, fields, seconds) => {
    const message = { ...messageOf(1, timestamp(now + 3_600_000)), ...fields };
    expect(await send([message])).toMatchObject([{ delaySeconds: seconds }]);
  });

  it('is delayed until a later time that is given', async () => {
    const due = timestamp(now + 20_000);
    expect(await send([messageOf()], now + 12_345)).toMatchObject([
      { delaySeconds: 13, message: { due: timestamp(now) } },
    ]);
    expect(await send([messageOf(1, due)], now + 12_345)).toMatchObject([{ delaySeconds: 20, message: { due } }]);
  });

  it('is delayed until that time only, though a clock an hour ahead has made its retry', async () => {
    const message = messageOf(3, timestamp(now + 3_600_000));
    expect(await send([message], now + 12_345)).toMatchObject([{ delaySeconds: 13 }]);
  });
});
