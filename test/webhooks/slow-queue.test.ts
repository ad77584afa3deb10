import { beforeEach, describe, expect, it } from 'vitest';
import type { DeliveryMessage } from '../../lib/deployment/messages.ts';
import { testWebhook } from '../../lib/webhooks/test-delivery.ts';
import { deleteWebhook, getWebhook, listWebhooks } from '../../lib/webhooks/webhooks.ts';
import { failed, notingSender, prepareTestWebhooks, startTime, type TestWebhooks } from './test-webhooks.ts';

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

describe('a webhook whose last attempt timed out', () => {
  it('has its next message sent to the slow queue, without an attempt and otherwise unchanged', async () => {
    const message = await slowWebhook();
    const before = await webhooks.dump();
    const { posts, sent } = await webhooks.attempt(message);
    expect(posts).toBe(0);
    expect(sent).toEqual([{ to: 'slowDeliveries', message: { ...message, slow: true }, delaySeconds: 0 }]);
    expect(await webhooks.dump()).toEqual(before);
  });

  it('is attempted from the slow queue', async () => {
    const message = await slowWebhook();
    expect(await webhooks.attempt({ ...message, slow: true })).toEqual({ posts: 1, sent: [] });
    expect(await webhooks.delivery(message)).toMatchObject({ state: 'delivered' });
  });

  it('has its retries sent on too, once they are due', async () => {
    const message = await slowWebhook();
    const { sent } = await webhooks.attempt({ ...message, slow: true }, late);
    expect(sent).toMatchObject([{ to: 'firstRetry', delaySeconds: 300 }]);
    const retry = sent[0]?.message as DeliveryMessage;
    expect(retry).not.toHaveProperty('slow');
    webhooks.clock.now += 300_000;
    expect(await webhooks.attempt(retry)).toMatchObject({ posts: 0, sent: [{ to: 'slowDeliveries' }] });
  });

  it('has an early message wait for its time before it is sent on', async () => {
    await slowWebhook();
    const retry = webhooks.queue.sent.find(({ message }) => message.attempt === 2)?.message as DeliveryMessage;
    webhooks.clock.now = Date.parse(retry.dueAt) - 1;
    expect(await webhooks.attempt(retry)).toEqual({
      posts: 0,
      sent: [{ to: 'firstRetry', message: retry, delaySeconds: 1 }],
    });
    webhooks.clock.now += 1;
    expect(await webhooks.attempt(retry)).toMatchObject({
      posts: 0,
      sent: [{ to: 'slowDeliveries', delaySeconds: 0 }],
    });
  });

  it('is not attempted early from the slow queue either', async () => {
    await slowWebhook();
    const retry = webhooks.queue.sent.find(({ message }) => message.attempt === 2)?.message as DeliveryMessage;
    webhooks.clock.now = Date.parse(retry.dueAt) - 60_000;
    const early = { ...retry, slow: true } as const;
    expect(await webhooks.attempt(early)).toEqual({
      posts: 0,
      sent: [{ to: 'slowDeliveries', message: early, delaySeconds: 60 }],
    });
  });

  it('has no attempts from the normal queue once it is deleted', async () => {
    const message = await slowWebhook();
    await deleteWebhook(webhooks, webhooks.organization, message.webhookId);
    expect(await webhooks.attempt(message)).toEqual({ posts: 0, sent: [] });
  });

  it('says nothing of that in any answer', async () => {
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
    ['a success', {}],
    ['a failure', failed],
  ])('goes the normal way again after a quick answer: %s', async (_, outcome) => {
    const message = await slowWebhook();
    await webhooks.attempt({ ...message, slow: true }, outcome);
    webhooks.clock.now += 1_000;
    expect(await webhooks.attempt(await webhooks.nextMessage())).toMatchObject({ posts: 1 });
  });

  it.each([
    ['that took 2 s', { durationMs: 2_000 }],
    ['that was none, though it came at once', { httpStatus: 0, error: 'The receiver refused the connection.' }],
    ['that timed out again', late],
  ])('stays slow after an answer %s', async (_, outcome) => {
    const message = await slowWebhook();
    await webhooks.attempt({ ...message, slow: true }, outcome);
    webhooks.clock.now += 1_000;
    expect(await webhooks.attempt(await webhooks.nextMessage())).toMatchObject({
      posts: 0,
      sent: [{ to: 'slowDeliveries' }],
    });
  });

  it('stays slow where an earlier quick answer is recorded after the time-out', async () => {
    const [first, second] = [await webhooks.message(), await webhooks.nextMessage()];
    webhooks.clock.now = startTime + 10_000;
    await webhooks.attempt(first, late);
    webhooks.clock.now = startTime + 5_000;
    await webhooks.attempt(second);
    webhooks.clock.now = startTime + 11_000;
    expect(await webhooks.attempt(await webhooks.nextMessage())).toMatchObject({
      posts: 0,
      sent: [{ to: 'slowDeliveries' }],
    });
  });

  it('is one whose receiver answered 200 when the time was over', async () => {
    await webhooks.attempt(await webhooks.message(), { timedOut: true, durationMs: 10_000 });
    webhooks.clock.now += 1_000;
    expect(await webhooks.attempt(await webhooks.nextMessage())).toMatchObject({
      posts: 0,
      sent: [{ to: 'slowDeliveries' }],
    });
  });

  it('is one whose test delivery timed out', async () => {
    const { id: webhookId } = await webhooks.register();
    const test = { webhookId, event: 'task.completed' } as const;
    await testWebhook({ ...webhooks, sender: notingSender(late).send }, webhooks.organization, test, undefined);
    webhooks.clock.now += 1_000;
    expect(await webhooks.attempt(await webhooks.nextMessage())).toMatchObject({
      posts: 0,
      sent: [{ to: 'slowDeliveries' }],
    });
  });

  it('is quick again by a test delivery that is answered soon', async () => {
    const { webhookId } = await slowWebhook();
    const test = { webhookId, event: 'task.completed' } as const;
    await testWebhook({ ...webhooks, sender: notingSender().send }, webhooks.organization, test, undefined);
    expect(await webhooks.attempt(await webhooks.nextMessage())).toMatchObject({ posts: 1 });
  });

  it('does not send messages of other webhooks to the slow queue, in its organization or another', async () => {
    await slowWebhook();
    const other = await webhooks.register({ events: ['task.completed'] });
    const [message] = await webhooks.publish(webhooks.change('task.completed'));
    expect(message?.webhookId).toBe(other.id);
    expect(await webhooks.attempt(message as DeliveryMessage)).toMatchObject({ posts: 1 });
    const elsewhere = createTestWebhooks();
    const { posts, send } = notingSender();
    await elsewhere.deliver(await elsewhere.message(), send);
    expect(posts).toHaveLength(1);
  });
});
