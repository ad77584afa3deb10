import { beforeEach, describe, expect, it } from 'vitest';
import type { DeliveryMessage } from '../../../lib/deployment/messages.ts';
import { markWebhookSlow } from '../../../lib/table/deliveries/webhook-attempts.ts';
import { sweepDeliveries } from '../../../lib/webhooks/deliveries/sweep.ts';
import { getDelivery } from '../../../lib/webhooks/delivery-details.ts';
import { recoverWebhook } from '../../../lib/webhooks/recoveries/recovery.ts';
import { sweepRecoveries } from '../../../lib/webhooks/recoveries/sweep.ts';
import { redeliverDelivery } from '../../../lib/webhooks/redelivery.ts';
import { deleteWebhook } from '../../../lib/webhooks/webhooks.ts';
import { failed, notingSender, prepareTestWebhooks, type TestWebhooks } from '../test-webhooks.ts';

const minuteMs = 60_000;
let webhooks: TestWebhooks;

// A sweep is over the whole table, so each test has one of its own.
beforeEach(async () => {
  webhooks = (await prepareTestWebhooks())();
});

const redeliver = ({ webhookId, deliveryId }: DeliveryMessage) =>
  redeliverDelivery(webhooks, webhooks.organization, { webhookId, deliveryId }, undefined);

/** Sweeps, and returns the sent messages. */
async function sweep() {
  const before = webhooks.queue.sent.length;
  await sweepDeliveries(webhooks, { until: webhooks.clock() });
  return webhooks.queue.sent.slice(before);
}

/** Returns the message of a redelivery of a delivered delivery. */
async function redelivery(): Promise<DeliveryMessage> {
  const first = await webhooks.message();
  await webhooks.attempt(first);
  await redeliver(first);
  return (await sweep())[0]?.message as DeliveryMessage;
}

const attemptsOf = async ({ webhookId }: DeliveryMessage) =>
  (await webhooks.history(webhookId)).map(({ attempt }) => attempt);

describe('a redelivery', () => {
  it('of a delivery that failed permanently is a fifth attempt, then a sixth, and is never retried', async () => {
    const first = await webhooks.message();
    await webhooks.attemptAll(first, notingSender(failed).send);
    for (const attempt of [5, 6]) {
      await redeliver(first);
      const [{ to, message } = {}] = await sweep();
      expect([to, message]).toMatchObject(['deliveries', { attempt, redelivery: true, eventId: first.eventId }]);
      expect(await webhooks.attempt(message as DeliveryMessage, failed)).toEqual({ posts: 1, sent: [] });
      webhooks.clock.now += minuteMs;
    }
    expect(await attemptsOf(first)).toEqual([6, 5, 4, 3, 2, 1]);
    webhooks.clock.now += 24 * 60 * minuteMs;
    expect(await sweep()).toEqual([]);
  });

  it('of a delivered delivery is not retried after a failure', async () => {
    const message = await redelivery();
    expect(await webhooks.attempt(message, failed)).toEqual({ posts: 1, sent: [] });
    webhooks.clock.now += 24 * 60 * minuteMs;
    expect(await sweep()).toEqual([]);
  });

  it('is posted once, although its message is received twice', async () => {
    const message = await redelivery();
    expect(await webhooks.attempt(message)).toEqual({ posts: 1, sent: [] });
    expect(await webhooks.attempt(message, {}, webhooks.createContainer())).toEqual({ posts: 0, sent: [] });
  });

  it('is made for one of several requests at the same time; the others get an error', async () => {
    const first = await webhooks.message();
    await webhooks.attempt(first);
    const requests = await Promise.allSettled(Array.from({ length: 5 }, () => redeliver(first)));
    const rejected = requests.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []));
    expect(rejected).toEqual(Array(4).fill('delivery_in_progress'));
    expect(await sweep()).toHaveLength(1);
  });

  it('is in progress while its attempt runs', async () => {
    const message = await redelivery();
    const { letGo } = await webhooks.beginAttempt(message);
    await expect(redeliver(message)).rejects.toMatchObject({ code: 'delivery_in_progress' });
    await letGo();
    expect(await redeliver(message)).toEqual({ deliveryId: message.deliveryId, state: 'pending' });
  });

  it('stays although a duplicate of the last attempt ends after the request, and writes its row again', async () => {
    const first = await webhooks.message();
    const { letGo } = await webhooks.beginAttempt(first, {}, webhooks.createContainer());
    await webhooks.attempt(first);
    await redeliver(first);
    await letGo();
    const [{ message } = {}] = await sweep();
    expect(await webhooks.attempt(message as DeliveryMessage)).toMatchObject({ posts: 1 });
    expect(await attemptsOf(first)).toEqual([2, 1]);
  });

  it('is made although a duplicate of the previous redelivery ends after the request', async () => {
    const message = await redelivery();
    const { letGo } = await webhooks.beginAttempt(message, {}, webhooks.createContainer());
    await webhooks.attempt(message);
    webhooks.clock.now += 1;
    await redeliver(message);
    await letGo();
    const [{ message: next } = {}] = await sweep();
    expect(next).toMatchObject({ attempt: 3 });
    expect(await webhooks.attempt(next as DeliveryMessage)).toMatchObject({ posts: 1 });
  });

  it('to a slow receiver goes through its queue', async () => {
    const message = await redelivery();
    await webhooks.attempt(message, { durationMs: 3_000 });
    webhooks.clock.now += 1;
    await redeliver(message);
    const [{ message: next } = {}] = await sweep();
    const { sent } = await webhooks.attempt(next as DeliveryMessage);
    expect(sent).toMatchObject([{ to: 'slowDeliveries', message: { attempt: 3, redelivery: true, slow: true } }]);
    expect(await webhooks.attempt(sent[0]?.message as DeliveryMessage, failed)).toEqual({ posts: 1, sent: [] });
  });

  it('is not made after its webhook was deleted', async () => {
    const message = await redelivery();
    await deleteWebhook(webhooks, webhooks.organization, message.webhookId, () => {});
    expect(await webhooks.attempt(message)).toEqual({ posts: 0, sent: [] });
    webhooks.clock.now += 10 * minuteMs;
    expect(await sweep()).toEqual([]);
  });
});

describe('a first attempt whose message is lost', () => {
  const detailsOf = ({ webhookId, deliveryId }: DeliveryMessage) =>
    getDelivery(webhooks, webhooks.organization, { webhookId, deliveryId });

  it('is requested again from two minutes after it was due, and has the retry schedule of its delivery', async () => {
    const first = await webhooks.message();
    webhooks.clock.now += 2 * minuteMs - 1;
    const before = await webhooks.dump();
    await expect(redeliver(first)).rejects.toMatchObject({ code: 'delivery_in_progress' });
    expect(await webhooks.dump()).toEqual(before);
    webhooks.clock.now += 1;
    const requests = await Promise.allSettled(Array.from({ length: 5 }, () => redeliver(first)));
    const rejected = requests.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []));
    expect(rejected).toEqual(Array(4).fill('delivery_in_progress'));
    expect(await detailsOf(first)).toMatchObject({ state: 'pending', nextAttemptAt: first.dueAt, attempts: [] });
    const [{ to, message } = {}] = await sweep();
    expect([to, message]).toEqual(['deliveries', { ...first, parked: true }]);
    const { posts, sent } = await webhooks.attempt(message as DeliveryMessage, failed);
    expect([posts, sent.map(({ message: next }) => next.attempt)]).toEqual([1, [2]]);
    expect(await detailsOf(first)).toMatchObject({ state: 'retrying', attempts: [{ attempt: 1, redelivery: false }] });
  });

  it.each([
    ['before', (messages: DeliveryMessage[]) => messages],
    ['after', (messages: DeliveryMessage[]) => messages.toReversed()],
  ])('is made once, although the lost message arrives %s the other one', async (_, inOrder) => {
    const first = await webhooks.message();
    webhooks.clock.now += 3 * minuteMs;
    await redeliver(first);
    const [{ message } = {}] = await sweep();
    let posts = 0;
    for (const one of inOrder([first, message as DeliveryMessage]))
      posts += (await webhooks.attempt(one, {}, webhooks.createContainer())).posts;
    expect(posts).toBe(1);
    expect(await attemptsOf(first)).toEqual([1]);
    webhooks.clock.now += 24 * 60 * minuteMs;
    expect(await sweep()).toEqual([]);
  });

  it('is requested again as soon as others if its receiver is slow', async () => {
    const first = await webhooks.message();
    await markWebhookSlow(webhooks, webhooks.organization, first.webhookId);
    webhooks.clock.now += 2 * minuteMs - 1;
    await expect(redeliver(first)).rejects.toMatchObject({ code: 'delivery_in_progress' });
    webhooks.clock.now += 1;
    expect(await redeliver(first)).toMatchObject({ state: 'pending' });
  });

  it('is left to a recovery that sends it', async () => {
    const first = await webhooks.message();
    webhooks.clock.now += 2 * minuteMs;
    const body = { since: Date.parse(first.dueAt), include: ['never_sent' as const] };
    await recoverWebhook(webhooks, webhooks.organization, first.webhookId, body, undefined);
    await sweepRecoveries(webhooks, { until: webhooks.clock(), hasTime: () => true });
    await expect(redeliver(first)).rejects.toMatchObject({ code: 'delivery_in_progress' });
  });
});
