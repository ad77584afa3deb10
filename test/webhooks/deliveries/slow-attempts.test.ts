import { beforeEach, describe, expect, it } from 'vitest';
import { timestamp } from '../../../lib/contract/ids.ts';
import type { DeliveryMessage } from '../../../lib/deployment/messages.ts';
import { leaseSlowAttempt } from '../../../lib/table/deliveries/webhook-attempts.ts';
import { readTarget } from '../../../lib/table/deliveries/webhooks.ts';
import { deleteWebhook } from '../../../lib/webhooks/webhooks.ts';
import { interceptTable } from '../../table/fixtures/intercepted-table.ts';
import { failed, notingSender, prepareTestWebhooks, slowAttempts, type TestWebhooks } from '../test-webhooks.ts';

const createTestWebhooks = await prepareTestWebhooks();
let webhooks: TestWebhooks;

beforeEach(() => {
  webhooks = createTestWebhooks();
});

const slowFailure = { ...failed, durationMs: 9_000 };

const slowQueue = { posts: 0, sent: [{ to: 'slowDeliveries', message: { slow: true } }] };

describe('an attempt', () => {
  it('that lasts 2 s marks its webhook as slow before it ends', async () => {
    const [first, second] = [await webhooks.message(), await webhooks.nextMessage()];
    const { letGo } = await webhooks.beginAttempt(first, slowFailure);
    expect(webhooks.timers).toMatchObject([{ afterMs: 2_000, stopped: false }]);
    webhooks.timers[0]?.fire();
    await expect
      .poll(async () => (await readTarget(webhooks, webhooks.organization, first.webhookId))?.slow)
      .toBe(true);
    expect(await webhooks.attempt(second)).toMatchObject(slowQueue);
    await letGo();
  });

  it('that ends sooner does not', async () => {
    await webhooks.attempt(await webhooks.message());
    expect(webhooks.timers).toMatchObject([{ stopped: true }]);
    expect(await webhooks.attempt(await webhooks.nextMessage())).toMatchObject({ posts: 1, sent: [] });
  });

  it('that lasts 2 s is recorded though its webhook is deleted meanwhile', async () => {
    const message = await webhooks.message();
    const { letGo } = await webhooks.beginAttempt(message, slowFailure);
    await deleteWebhook(webhooks, webhooks.organization, message.webhookId);
    webhooks.timers[0]?.fire();
    await letGo();
    expect(await readTarget(webhooks, webhooks.organization, message.webhookId)).toBeUndefined();
    expect(await webhooks.delivery(message)).toMatchObject({ state: 'retrying' });
  });

  it.each([
    ['a failure after 9 s', slowFailure],
    ['a success after 2 s', { durationMs: 2_000 }],
  ])('leaves its webhook slow: %s', async (_, outcome) => {
    await webhooks.attempt(await webhooks.message(), outcome);
    webhooks.clock.now += 1_000;
    expect(await webhooks.attempt(await webhooks.nextMessage())).toMatchObject(slowQueue);
  });
});

describe('more than five attempts of one webhook in a container', () => {
  /** A webhook with five attempts that run, and two more that were asked for. */
  async function sevenAttempts(outcome = {}) {
    const messages = [await webhooks.message()];
    while (messages.length < 7) messages.push(await webhooks.nextMessage());
    const running = await Promise.all(messages.slice(0, 5).map((message) => webhooks.beginAttempt(message, outcome)));
    const { posts, send } = notingSender();
    const before = webhooks.queue.sent.length;
    const waiting = Promise.all(messages.slice(5).map((message) => webhooks.deliver(message, send)));
    const endAll = async () => {
      await Promise.all(running.map(({ letGo }) => letGo()));
    };
    return { posts, waiting, endAll, sent: () => webhooks.queue.sent.slice(before) };
  }

  it('are made one after the other where the receiver is quick', async () => {
    const { posts, waiting, endAll, sent } = await sevenAttempts();
    await endAll();
    await waiting;
    expect(posts).toHaveLength(2);
    expect(sent()).toEqual([]);
  });

  it('go to the queue of slow webhooks as soon as one of them has lasted 2 s', async () => {
    const { posts, waiting, endAll, sent } = await sevenAttempts(slowFailure);
    webhooks.timers[0]?.fire();
    await waiting;
    expect(posts).toEqual([]);
    expect(sent()).toMatchObject(Array(2).fill({ to: 'slowDeliveries', message: { slow: true }, delaySeconds: 0 }));
    await endAll();
  });
});

describe('attempts from the queue of slow webhooks', () => {
  /** Begins as many attempts of a webhook as may run at the same time, and returns the message of one more. */
  async function busyWebhook() {
    const messages = [await webhooks.message()];
    while (messages.length <= slowAttempts) messages.push(await webhooks.nextMessage());
    const slow = messages.map((message) => ({ ...message, slow: true }) as const);
    const running = [];
    for (const message of slow.slice(0, -1)) running.push(await webhooks.beginAttempt(message, slowFailure));
    return { running, message: slow.at(-1) as DeliveryMessage };
  }

  it('are limited for each webhook; one more is sent again after 1 s and is no attempt', async () => {
    const { running, message } = await busyWebhook();
    expect(running.flatMap(({ posts }) => posts)).toHaveLength(slowAttempts);
    const before = await webhooks.dump();
    const sent = [{ to: 'slowDeliveries', message, delaySeconds: 1 }];
    expect(await webhooks.attempt(message)).toEqual({ posts: 0, sent });
    expect(await webhooks.dump()).toEqual(before);
    await Promise.all(running.map(({ letGo }) => letGo()));
  });

  it.each([
    [8_000, 2],
    [40_000, 10],
    [100_000, 25],
    [3_600_000, 900],
    [86_400_000, 900],
  ])('that have waited for %i ms are sent again after %i s', async (waitedMs, delaySeconds) => {
    const { running, message } = await busyWebhook();
    const now = timestamp(webhooks.clock());
    webhooks.clock.now += waitedMs;
    const lease = { now: timestamp(webhooks.clock()), until: timestamp(webhooks.clock() + 20_000) };
    // Those that run have lost theirs, by their time or not.
    for (let number = 0; number < slowAttempts; number++)
      await leaseSlowAttempt(webhooks, webhooks.organization, message.webhookId, { ...lease, number });
    expect(await webhooks.attempt({ ...message, dueAt: now })).toMatchObject({ posts: 0, sent: [{ delaySeconds }] });
    await Promise.allSettled(running.map(({ letGo }) => letGo()));
  });

  it('are made again as soon as one ends', async () => {
    const { running, message } = await busyWebhook();
    const [first, ...others] = running;
    webhooks.clock.now += 9_000;
    await first?.letGo();
    expect(await webhooks.attempt(message, slowFailure)).toMatchObject({ posts: 1 });
    await Promise.all(others.map(({ letGo }) => letGo()));
  });

  it('are made again 20 s after workers were lost with all that the webhook may have', async () => {
    const { message } = await busyWebhook();
    webhooks.clock.now += 19_999;
    expect(await webhooks.attempt(message)).toMatchObject({ posts: 0 });
    webhooks.clock.now += 1;
    expect(await webhooks.attempt(message)).toMatchObject({ posts: 1 });
  });

  it('that another worker was sooner than are sent again', async () => {
    const message = { ...(await webhooks.message()), slow: true } as const;
    const { posts, send } = notingSender();
    const container = webhooks.createContainer();
    const lease = { now: timestamp(webhooks.clock()), until: timestamp(webhooks.clock() + 20_000) };
    // Another worker takes the same lease between this worker's read and its write.
    const table = interceptTable(container.table, async (write, { input }) => {
      const [, number] = /"#lease":"slowLease(\d+)"/.exec(JSON.stringify(input)) ?? [];
      if (number)
        await leaseSlowAttempt(webhooks, webhooks.organization, message.webhookId, { ...lease, number: +number });
      return write();
    });
    await webhooks.deliver(message, send, { ...container, table });
    expect(posts).toEqual([]);
    expect(webhooks.queue.sent.at(-1)).toEqual({ to: 'slowDeliveries', message, delaySeconds: 1 });
  });

  it('that were made late take no lease when their messages come again', async () => {
    const message = { ...(await webhooks.message()), slow: true } as const;
    webhooks.clock.now += 3_600_000;
    expect(await webhooks.attempt(message)).toMatchObject({ posts: 1 });
    const before = await webhooks.dump();
    expect(await webhooks.attempt(message)).toEqual({ posts: 0, sent: [] });
    expect(await webhooks.dump()).toEqual(before);
  });
});
