import { beforeEach, describe, expect, it } from 'vitest';
import type { DeliveryMessage } from '../../../lib/deployment/messages.ts';
import { deleteWebhook, listWebhooks } from '../../../lib/webhooks/webhooks.ts';
import { failed, notingSender, prepareTestWebhooks, startTime, type TestWebhooks } from '../test-webhooks.ts';

const createTestWebhooks = await prepareTestWebhooks();
let webhooks: TestWebhooks;

beforeEach(() => {
  webhooks = createTestWebhooks();
});

/** Begins an attempt in another container. */
const beginElsewhere = (message: DeliveryMessage, outcome = {}) =>
  webhooks.beginAttempt(message, outcome, webhooks.createContainer());

describe('an attempt', () => {
  it('is made once for ten copies of its message in one container', async () => {
    const message = await webhooks.message();
    const { posts, send } = notingSender();
    await Promise.all(Array.from({ length: 10 }, () => webhooks.deliver(message, send)));
    expect(posts).toHaveLength(1);
    expect(await webhooks.history(message.webhookId)).toHaveLength(1);
  });

  it('that throws fails all copies, so that no message is deleted', async () => {
    const message = await webhooks.message({ secret: 'a secret' });
    webhooks.removeKey();
    const { send } = notingSender();
    const ended = await Promise.allSettled([1, 2, 3].map(() => webhooks.deliver(message, send)));
    expect(ended.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  });

  it.each([
    ['delivered', {}],
    ['exhausted', failed],
  ])('is not made again by any message of a delivery that is %s', async (state, outcome) => {
    const message = await webhooks.message();
    await webhooks.attemptAll(message, notingSender(outcome).send);
    expect(await webhooks.delivery(message)).toMatchObject({ state, listed: false });
    const before = await webhooks.dump();
    const sent = webhooks.queue.sent.length;
    const { posts, send } = notingSender();
    for (const { message } of webhooks.queue.sent.slice())
      await webhooks.deliver(message, send, webhooks.createContainer());
    expect(posts).toEqual([]);
    expect(webhooks.queue.sent).toHaveLength(sent);
    expect(await webhooks.dump()).toEqual(before);
  });

  it('is not made for an event that does not exist', async () => {
    const message = await webhooks.message();
    const before = await webhooks.dump();
    expect(await webhooks.attempt({ ...message, eventId: 'ev_01K00000000000000000000000' })).toMatchObject({
      posts: 0,
    });
    expect(await webhooks.dump()).toEqual(before);
  });

  it('that is a retry is not made before it is due, and is made then', async () => {
    await webhooks.attempt(await webhooks.message(), failed);
    const { message } = webhooks.queue.sent.at(-1) as (typeof webhooks.queue.sent)[number];
    const { posts, send } = notingSender();
    webhooks.clock.now = Date.parse(message.dueAt) - 1;
    await webhooks.deliver(message, send);
    expect(posts).toEqual([]);
    expect(webhooks.queue.sent.at(-1)).toEqual({ to: 'firstRetry', message, delaySeconds: 1 });
    webhooks.clock.now += 1;
    await webhooks.deliver(message, send);
    expect(posts).toHaveLength(1);
  });

  it('that is the first is made at once, though the clock is behind that of the change', async () => {
    const message = await webhooks.message();
    webhooks.clock.now -= 1_000;
    expect(await webhooks.attempt(message)).toMatchObject({ posts: 1 });
  });

  it('is made again after a lost worker, when the message comes again', async () => {
    const message = await webhooks.message();
    await beginElsewhere(message);
    webhooks.clock.now = startTime + 180_000;
    expect(await webhooks.attempt(message)).toMatchObject({ posts: 1 });
    expect(await webhooks.delivery(message)).toMatchObject({ state: 'delivered' });
  });
});

describe('an attempt that two containers make at once', () => {
  it.each([0, 90_000, 3_600_000])('is one row, begun %i ms after it was due', async (lateMs) => {
    const message = await webhooks.message();
    webhooks.clock.now = startTime + lateMs;
    const { letGo } = await beginElsewhere(message);
    webhooks.clock.now += 1_000;
    await webhooks.attempt(message, { httpStatus: 202 });
    expect(await webhooks.history(message.webhookId)).toMatchObject([{ httpStatus: 202 }]);
    await letGo();
    expect(await webhooks.history(message.webhookId)).toMatchObject([{ attempt: 1 }]);
  });

  it('is one row where only one of them is late: that one waits until the other has ended', async () => {
    const message = await webhooks.message();
    webhooks.clock.now = startTime + 59_999;
    const { letGo } = await beginElsewhere(message);
    const { posts, send } = notingSender();
    for (const lateMs of [60_000, 89_999]) {
      webhooks.clock.now = startTime + lateMs;
      await webhooks.deliver(message, send);
      expect(webhooks.queue.sent.at(-1)).toEqual({
        to: 'deliveries',
        message,
        delaySeconds: Math.ceil((90_000 - lateMs) / 1000),
      });
    }
    await letGo();
    webhooks.clock.now = startTime + 90_000;
    await webhooks.deliver(message, send);
    expect(posts).toEqual([]);
    expect(await webhooks.history(message.webhookId)).toHaveLength(1);
  });

  it('is one row where a worker that was late began a minute ago', async () => {
    const message = await webhooks.message();
    const begun = startTime + 90_000;
    webhooks.clock.now = begun;
    await beginElsewhere(message);
    webhooks.clock.now = begun + 59_999;
    const { letGo } = await beginElsewhere(message);
    const { posts, send } = notingSender();
    webhooks.clock.now = begun + 60_000;
    await webhooks.deliver(message, send);
    expect(webhooks.queue.sent.at(-1)).toEqual({ to: 'deliveries', message, delaySeconds: 30 });
    await letGo();
    webhooks.clock.now = begun + 90_000;
    await webhooks.deliver(message, send);
    expect(posts).toEqual([]);
    expect(await webhooks.history(message.webhookId)).toHaveLength(1);
  });

  it.each([
    ['delivered', 'the other one failed', failed, {}, 0],
    ['retried once', 'both failed', failed, failed, 1],
    ['retried once', 'the last one failed', {}, failed, 1],
  ])('is %s where %s', async (_, __, first, last, retries) => {
    const message = await webhooks.message();
    const { letGo } = await beginElsewhere(message, last);
    await webhooks.attempt(message, first);
    webhooks.clock.now += 5_000;
    await letGo();
    const { posts, send } = notingSender();
    const retried = webhooks.queue.sent.filter(({ message }) => message.attempt === 2);
    webhooks.clock.now += 300_000;
    for (const { message } of retried) await webhooks.deliver(message, send, webhooks.createContainer());
    expect(posts).toHaveLength(retries);
    expect(await webhooks.delivery(message)).toEqual({ state: 'delivered', attempt: 1 + retries, listed: false });
    expect(await webhooks.history(message.webhookId)).toHaveLength(1 + retries);
  });
});

describe('an attempt for a webhook that was deleted', () => {
  it('is not made, and leaves nothing behind', async () => {
    const message = await webhooks.message({ secret: 'a secret' });
    await deleteWebhook(webhooks, webhooks.organization, message.webhookId);
    const before = await webhooks.dump();
    expect(await webhooks.attempt(message)).toMatchObject({ posts: 0 });
    expect(await webhooks.dump()).toEqual(before);
  });

  it('is not made where it is a retry, and is taken off the sweeper’s list', async () => {
    const message = await webhooks.message();
    await webhooks.attempt(message, failed);
    await deleteWebhook(webhooks, webhooks.organization, message.webhookId);
    webhooks.clock.now += 300_000;
    expect(await webhooks.attempt(webhooks.queue.sent.at(-1)?.message as typeof message)).toMatchObject({ posts: 0 });
    expect(await webhooks.delivery(message)).toMatchObject({ state: 'retrying', listed: false });
  });

  it('while it is under way ends well and brings nothing of the webhook back', async () => {
    const message = await webhooks.message({ secret: 'a secret' });
    const { send } = notingSender({}, () => deleteWebhook(webhooks, webhooks.organization, message.webhookId));
    await webhooks.deliver(message, send);
    expect(await webhooks.delivery(message)).toMatchObject({ state: 'delivered' });
    expect(await listWebhooks(webhooks, webhooks.organization)).toEqual([]);
    expect(Object.keys(await webhooks.dump()).filter((key) => /#(W|WS|S)(#| )/.test(key))).toEqual([]);
    await expect(webhooks.history(message.webhookId)).rejects.toMatchObject({ code: 'not_found' });
  });
});

it('an attempt whose secret cannot be decrypted is not made, and is made with a signature when its message comes again', async () => {
  const message = await webhooks.message({ secret: 'a secret' });
  webhooks.removeKey();
  const { posts, send } = notingSender();
  await expect(webhooks.deliver(message, send)).rejects.toThrow('no key for webhook secrets');
  expect(posts).toEqual([]);
  expect(await webhooks.history(message.webhookId)).toEqual([]);
  expect(await webhooks.delivery(message)).toEqual({ state: 'pending', attempt: 1 });
  webhooks.restoreKey();
  webhooks.clock.now += 180_000;
  await webhooks.deliver(message, send);
  expect(posts).toHaveLength(1);
  expect(posts[0]?.headers).toHaveProperty('X-Service-Signature');
  expect(await webhooks.history(message.webhookId)).toHaveLength(1);
});
