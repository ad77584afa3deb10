import { beforeEach, describe, expect, it } from 'vitest';
import type { DeliveryMessage } from '../../../lib/names/messages.ts';
import { markWebhookSlow } from '../../../lib/table/webhooks/webhook-attempts.ts';
import { compareDeliveries } from '../../../lib/webhooks/deliveries/compare-deliveries.ts';
import { sweepDeliveries } from '../../../lib/webhooks/deliveries/sweep.ts';
import { getDelivery } from '../../../lib/webhooks/delivery-details.ts';
import { recoverWebhook } from '../../../lib/webhooks/recoveries/recovery.ts';
import { sweepRecoveries } from '../../../lib/webhooks/recoveries/sweep.ts';
import { redeliverDelivery } from '../../../lib/webhooks/redelivery.ts';
import { deleteWebhook, updateWebhook } from '../../../lib/webhooks/webhooks.ts';
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
    expect(await redeliver(message)).toEqual({ deliveryId: message.deliveryId, state: 'pending', attempt: 3 });
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

describe('a redelivery of a delivery whose retry waits', () => {
  /** Makes a first attempt that fails, and returns the message of its retry, which can be replaced now. */
  async function waitingRetry(): Promise<DeliveryMessage> {
    const retry = await webhooks.retry();
    webhooks.clock.now += 30_001;
    return retry;
  }

  /** Requests the redelivery, and returns its message. */
  async function replace(retry: DeliveryMessage): Promise<DeliveryMessage> {
    await redeliver(retry);
    return (await sweep())[0]?.message as DeliveryMessage;
  }

  it('is the attempt with the number of the retry, and begins the retry schedule again', async () => {
    const retry = await waitingRetry();
    expect(await redeliver(retry)).toEqual({ deliveryId: retry.deliveryId, state: 'pending', attempt: 2 });
    const [{ to, message } = {}, ...others] = await sweep();
    expect([to, message, others]).toMatchObject(['deliveries', { attempt: 2, redelivery: true, scheduleStart: 2 }, []]);
    const waits: number[] = [];
    for (let next = message; next; ) {
      webhooks.clock.now = Math.max(webhooks.clock.now, Date.parse(next.dueAt));
      const endedAt = webhooks.clock.now;
      const { posts, sent } = await webhooks.attempt(next, failed);
      expect(posts).toBe(1);
      next = sent[0]?.message;
      if (next) waits.push((Date.parse(next.dueAt) - endedAt) / minuteMs);
    }
    expect(waits).toEqual([5, 30, 120]);
    expect(await attemptsOf(retry)).toEqual([5, 4, 3, 2, 1]);
    webhooks.clock.now += 24 * 60 * minuteMs;
    expect(await sweep()).toEqual([]);
  });

  it.each(['before', 'during', 'after'])(
    'is posted once if the message of the retry arrives %s its attempt',
    async (when) => {
      const retry = await waitingRetry();
      const message = await replace(retry);
      const other = () => webhooks.attempt(retry, {}, webhooks.createContainer());
      if (when === 'before') {
        webhooks.clock.now = Date.parse(retry.dueAt);
        expect(await other()).toEqual({ posts: 0, sent: [] });
      }
      const { posts, letGo } = await webhooks.beginAttempt(message);
      if (when === 'during') {
        webhooks.clock.now = Date.parse(retry.dueAt);
        expect(await other()).toEqual({ posts: 0, sent: [] });
      }
      await letGo();
      webhooks.clock.now = Date.parse(retry.dueAt) + minuteMs;
      expect(await other()).toEqual({ posts: 0, sent: [] });
      expect(posts).toHaveLength(1);
      expect(await attemptsOf(retry)).toEqual([2, 1]);
      expect(await sweep()).toEqual([]);
    },
  );

  it('is refused 15 seconds before the retry and 30 seconds after the last attempt, with the time that is left', async () => {
    const retry = await webhooks.retry();
    const before = await webhooks.dump();
    const refused = async (seconds: number) => {
      const headers = { 'Retry-After': String(seconds) };
      await expect(redeliver(retry)).rejects.toMatchObject({ code: 'delivery_in_progress', headers });
    };
    await refused(31);
    webhooks.clock.now += 30_000;
    await refused(1);
    const dueAt = Date.parse(retry.dueAt);
    for (const [at, seconds] of [
      [dueAt - 15_000, 15],
      [dueAt - 1, 1],
      [dueAt, 30],
    ] as const) {
      webhooks.clock.now = at;
      await refused(seconds);
    }
    expect(await webhooks.dump()).toEqual(before);
    webhooks.clock.now = dueAt - 15_001;
    expect(await redeliver(retry)).toMatchObject({ attempt: 2 });
  });

  it('is made for one of several requests at the same time', async () => {
    const retry = await waitingRetry();
    const requests = await Promise.allSettled(Array.from({ length: 5 }, () => redeliver(retry)));
    const rejected = requests.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []));
    expect(rejected).toEqual(Array(4).fill('delivery_in_progress'));
    expect(await sweep()).toHaveLength(1);
  });

  it('stays although a duplicate of the failed attempt writes its row again, and the retry is listed no more', async () => {
    const first = await webhooks.message();
    const { letGo } = await webhooks.beginAttempt(first, failed, webhooks.createContainer());
    const retry = await webhooks.retry(first);
    webhooks.clock.now += 30_001;
    const message = await replace(retry);
    await letGo();
    expect(await webhooks.attempt(message)).toMatchObject({ posts: 1 });
    webhooks.clock.now += 60 * minuteMs;
    const again = await sweep();
    expect(again).toMatchObject([{ message: { attempt: 2 } }]);
    expect(await webhooks.attempt(again[0]?.message as DeliveryMessage)).toEqual({ posts: 0, sent: [] });
    webhooks.clock.now += 60 * minuteMs;
    expect(await sweep()).toEqual([]);
  });

  it('waits for the end of a pause', async () => {
    const message = await replace(await waitingRetry());
    const change = (active: boolean) =>
      updateWebhook(webhooks, webhooks.organization, message.webhookId, { active }, () => {});
    await change(false);
    expect(await webhooks.attempt(message)).toEqual({ posts: 0, sent: [] });
    await change(true);
    const [{ message: released } = {}] = await sweep();
    expect(await webhooks.attempt(released as DeliveryMessage, failed)).toMatchObject({
      posts: 1,
      sent: [{ message: { attempt: 3, scheduleStart: 2 } }],
    });
  });

  it('leaves no attempt that counts as lost', async () => {
    const retry = await waitingRetry();
    const from = webhooks.clock() - minuteMs;
    const message = await replace(retry);
    await webhooks.attempt(message);
    const now = webhooks.clock() + 24 * 60 * minuteMs;
    const compared = await compareDeliveries(webhooks, webhooks.organization, { from, to: webhooks.clock(), now });
    expect(compared).toMatchObject({ deliveries: 1, waiting: [], lost: [] });
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
