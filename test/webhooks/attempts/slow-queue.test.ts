import { beforeEach, describe, expect, it } from 'vitest';
import type { DeliveryMessage } from '../../../lib/names/messages.ts';
import { testWebhook } from '../../../lib/webhooks/test-delivery.ts';
import { failed, notingSender, prepareTestWebhooks, startTime, type TestWebhooks } from '../test-webhooks.ts';

const createTestWebhooks = await prepareTestWebhooks();
let webhooks: TestWebhooks;
beforeEach(() => {
  webhooks = createTestWebhooks();
});

const late = { httpStatus: 0, timedOut: true, durationMs: 10_000, error: 'No answer within 10 s.' };

const sentToSlowQueue = { posts: 0, sent: [{ to: 'slowDeliveries', delaySeconds: 0 }] };

/** Creates a webhook whose last attempt timed out; returns its retry and the message of its next event. */
async function createSlowWebhook() {
  const { sent } = await webhooks.attempt(await webhooks.message(), late);
  webhooks.clock.now += 1_000;
  return { retry: sent[0]?.message as DeliveryMessage, next: await webhooks.nextMessage() };
}

/** Makes the attempt of a new event a second later. */
async function attemptNext() {
  webhooks.clock.now += 1_000;
  return webhooks.attempt(await webhooks.nextMessage());
}

describe('a webhook whose last attempt timed out', () => {
  it('has its next message sent to the slow queue without an attempt, and is attempted from there', async () => {
    const { next } = await createSlowWebhook();
    const before = await webhooks.dump();
    const slow = { ...next, slow: true } as const;
    const sent = [{ to: 'slowDeliveries', message: slow, delaySeconds: 0 }];
    expect(await webhooks.attempt(next)).toEqual({ posts: 0, sent });
    expect(await webhooks.dump()).toEqual(before);
    expect(await webhooks.attempt(slow)).toEqual({ posts: 1, sent: [] });
    expect(await webhooks.delivery(next)).toMatchObject({ state: 'delivered' });
  });

  it('has its retries sent to the slow queue when they are due, and not attempted early there either', async () => {
    const { retry } = await createSlowWebhook();
    expect(retry).not.toHaveProperty('slow');
    const early = { ...retry, slow: true } as const;
    webhooks.clock.now = Date.parse(early.dueAt) - 60_000;
    const sent = [{ to: 'slowDeliveries', message: early, delaySeconds: 60 }];
    expect(await webhooks.attempt(early)).toEqual({ posts: 0, sent });
    webhooks.clock.now += 60_000;
    expect(await webhooks.attempt(retry)).toMatchObject(sentToSlowQueue);
  });

  it('has the retry of an attempt from the slow queue sent to its own queue', async () => {
    const { next } = await createSlowWebhook();
    const { sent } = await webhooks.attempt({ ...next, slow: true }, failed);
    expect(sent).toMatchObject([{ to: 'firstRetry' }]);
    expect(sent[0]?.message).not.toHaveProperty('slow');
  });

  it('does not send messages of other webhooks to the slow queue, in its organization or another', async () => {
    await createSlowWebhook();
    await webhooks.register({ events: ['task.completed'] });
    const [message] = await webhooks.publish(webhooks.change('task.completed'));
    expect(await webhooks.attempt(message as DeliveryMessage)).toMatchObject({ posts: 1 });
    const elsewhere = createTestWebhooks();
    expect(await elsewhere.attempt(await elsewhere.message())).toMatchObject({ posts: 1 });
  });
});

describe('a slow webhook', () => {
  it.each([
    ['is quick after a failure in less than 2 s', failed, { posts: 1 }],
    ['stays slow after 2 s', { durationMs: 2_000 }, sentToSlowQueue],
    ['stays slow without an answer', { httpStatus: 0, error: 'The receiver refused the connection.' }, sentToSlowQueue],
  ])('%s', async (_, outcome, next) => {
    const { next: message } = await createSlowWebhook();
    await webhooks.attempt({ ...message, slow: true }, outcome);
    expect(await attemptNext()).toMatchObject(next);
  });

  it('stays slow if an earlier quick answer is recorded after the time-out', async () => {
    const [first, second] = [await webhooks.message(), await webhooks.nextMessage()];
    webhooks.clock.now = startTime + 10_000;
    await webhooks.attempt(first, late);
    webhooks.clock.now = startTime + 5_000;
    await webhooks.attempt(second);
    webhooks.clock.now = startTime + 10_000;
    expect(await attemptNext()).toMatchObject(sentToSlowQueue);
  });

  it.each([
    ['times out makes a webhook slow', false, late, sentToSlowQueue],
    ['is answered soon makes a webhook quick', true, {}, { posts: 1 }],
  ])('after a test delivery: one that %s', async (_, slow, outcome, next) => {
    const { webhookId } = slow ? (await createSlowWebhook()).next : await webhooks.message();
    const context = { ...webhooks, sender: notingSender(outcome).send };
    await testWebhook(context, webhooks.organization, { webhookId, event: 'task.completed' }, undefined);
    expect(await attemptNext()).toMatchObject(next);
  });
});
