import { beforeEach, describe, expect, it } from 'vitest';
import type { DeliveryMessage } from '../../../lib/deployment/messages.ts';
import { testWebhook } from '../../../lib/webhooks/test-delivery.ts';
import { deleteWebhook, getWebhook, listWebhooks } from '../../../lib/webhooks/webhooks.ts';
import { failed, notingSender, prepareTestWebhooks, startTime, type TestWebhooks } from '../test-webhooks.ts';

const createTestWebhooks = await prepareTestWebhooks();
let webhooks: TestWebhooks;

beforeEach(() => {
  webhooks = createTestWebhooks();
});

const late = { httpStatus: 0, timedOut: true, durationMs: 10_000, error: 'No answer within 10 s.' };

/** A webhook whose last attempt timed out, and the message of its next event. */
async function slowWebhook(): Promise<DeliveryMessage> {
  const message = await webhooks.message();
  await webhooks.attempt(message, late);
  webhooks.clock.now += 1_000;
  return webhooks.nextMessage();
}

/** The result of an attempt that is sent to the slow queue. */
const sentToSlowQueue = { posts: 0, sent: [{ to: 'slowDeliveries', delaySeconds: 0 }] };

/** Returns the first retry among the sent messages. */
const sentRetry = () => webhooks.queue.sent.find(({ message }) => message.attempt === 2)?.message as DeliveryMessage;

describe('a webhook whose last attempt timed out', () => {
  it('has its next message sent to the slow queue unchanged and without an attempt, and is attempted from there', async () => {
    const message = await slowWebhook();
    const before = await webhooks.dump();
    const slow = { ...message, slow: true } as const;
    const sent = [{ to: 'slowDeliveries', message: slow, delaySeconds: 0 }];
    expect(await webhooks.attempt(message)).toEqual({ posts: 0, sent });
    expect(await webhooks.dump()).toEqual(before);
    expect(await webhooks.attempt(slow)).toEqual({ posts: 1, sent: [] });
    expect(await webhooks.delivery(message)).toMatchObject({ state: 'delivered' });
  });

  it('has its retries sent to the slow queue too, when they are due', async () => {
    await slowWebhook();
    const retry = sentRetry();
    expect(retry).not.toHaveProperty('slow');
    webhooks.clock.now = Date.parse(retry.dueAt) - 1;
    const sent = [{ to: 'firstRetry', message: retry, delaySeconds: 1 }];
    expect(await webhooks.attempt(retry)).toEqual({ posts: 0, sent });
    webhooks.clock.now += 1;
    expect(await webhooks.attempt(retry)).toMatchObject(sentToSlowQueue);
  });

  it('is not attempted early from the slow queue either', async () => {
    await slowWebhook();
    const early = { ...sentRetry(), slow: true } as const;
    webhooks.clock.now = Date.parse(early.dueAt) - 60_000;
    const sent = [{ to: 'slowDeliveries', message: early, delaySeconds: 60 }];
    expect(await webhooks.attempt(early)).toEqual({ posts: 0, sent });
  });

  it('has no attempts from the normal queue once it is deleted', async () => {
    const message = await slowWebhook();
    await deleteWebhook(webhooks, webhooks.organization, message.webhookId);
    expect(await webhooks.attempt(message)).toEqual({ posts: 0, sent: [] });
  });

  it('does not show that in any response', async () => {
    const { webhookId } = await slowWebhook();
    const shown = ['id', 'url', 'events', 'active', 'createdAt', 'lastDeliveryAt'].sort();
    expect(Object.keys(await getWebhook(webhooks, webhooks.organization, webhookId)).sort()).toEqual(shown);
    const [listed = {}] = await listWebhooks(webhooks, webhooks.organization);
    expect(Object.keys(listed).sort()).toEqual(shown);
    for (const record of await webhooks.history(webhookId)) expect(record).not.toHaveProperty('slow');
  });
});

describe('a slow webhook', () => {
  it.each([
    ['is quick after a success in less than 2 s', {}, { posts: 1 }],
    ['is quick after a failure in less than 2 s', failed, { posts: 1 }],
    ['stays slow after 2 s', { durationMs: 2_000 }, sentToSlowQueue],
    ['stays slow without an answer', { httpStatus: 0, error: 'The receiver refused the connection.' }, sentToSlowQueue],
    ['stays slow after a time-out', late, sentToSlowQueue],
  ])('%s', async (_, outcome, next) => {
    const message = await slowWebhook();
    await webhooks.attempt({ ...message, slow: true }, outcome);
    webhooks.clock.now += 1_000;
    expect(await webhooks.attempt(await webhooks.nextMessage())).toMatchObject(next);
  });

  it('stays slow if an earlier quick answer is recorded after the time-out', async () => {
    const [first, second] = [await webhooks.message(), await webhooks.nextMessage()];
    webhooks.clock.now = startTime + 10_000;
    await webhooks.attempt(first, late);
    webhooks.clock.now = startTime + 5_000;
    await webhooks.attempt(second);
    webhooks.clock.now = startTime + 11_000;
    expect(await webhooks.attempt(await webhooks.nextMessage())).toMatchObject(sentToSlowQueue);
  });

  it.each([
    ['times out makes a webhook slow', false, late, sentToSlowQueue],
    ['is answered soon makes a webhook quick', true, {}, { posts: 1 }],
  ])('after a test delivery: one that %s', async (_, slow, outcome, next) => {
    const { webhookId } = slow ? await slowWebhook() : await webhooks.message();
    const test = { webhookId, event: 'task.completed' } as const;
    const context = { ...webhooks, sender: notingSender(outcome).send };
    await testWebhook(context, webhooks.organization, test, undefined);
    webhooks.clock.now += 1_000;
    expect(await webhooks.attempt(await webhooks.nextMessage())).toMatchObject(next);
  });

  it('does not send messages of other webhooks to the slow queue, in its organization or another', async () => {
    await slowWebhook();
    const other = await webhooks.register({ events: ['task.completed'] });
    const [message] = await webhooks.publish(webhooks.change('task.completed'));
    expect(message?.webhookId).toBe(other.id);
    expect(await webhooks.attempt(message as DeliveryMessage)).toMatchObject({ posts: 1 });
    const elsewhere = createTestWebhooks();
    expect(await elsewhere.attempt(await elsewhere.message())).toMatchObject({ posts: 1 });
  });
});
