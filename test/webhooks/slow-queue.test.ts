import { beforeEach, describe, expect, it } from 'vitest';
import type { DeliveryMessage } from '../../lib/deployment/messages.ts';
import { testWebhook } from '../../lib/webhooks/test-delivery.ts';
import { deleteWebhook, getWebhook, listWebhooks } from '../../lib/webhooks/webhooks.ts';
import { failed, notingSender, type Office, opening, openOffices } from './office.ts';

const newOffice = await openOffices();
let office: Office;

beforeEach(() => {
  office = newOffice();
});

const late = { httpStatus: 0, timedOut: true, durationMs: 10_000, error: 'No answer within 10 s.' };

/** A webhook whose last attempt timed out, and the message of its next event. */
async function slowWebhook(): Promise<DeliveryMessage> {
  const message = await office.message();
  await office.deliver(message, notingSender(late).send);
  office.clock.now += 1_000;
  return nextMessage();
}

/** The one message of a new event. */
async function nextMessage(): Promise<DeliveryMessage> {
  const [message] = await office.publish();
  return message as DeliveryMessage;
}

/** What an attempt posts, and what it puts in which queue. */
async function attempted(message: DeliveryMessage, outcome = {}) {
  const before = office.queue.sent.length;
  const { posts, send } = notingSender(outcome);
  await office.deliver(message, send);
  return { posts: posts.length, sent: office.queue.sent.slice(before) };
}

describe('a webhook whose last attempt timed out', () => {
  it('has its next message sent to the slow queue, without an attempt and otherwise unchanged', async () => {
    const message = await slowWebhook();
    const before = await office.dump();
    const { posts, sent } = await attempted(message);
    expect(posts).toBe(0);
    expect(sent).toEqual([{ to: 'slowDeliveries', message: { ...message, slow: true }, delaySeconds: 0 }]);
    expect(await office.dump()).toEqual(before);
  });

  it('is attempted from the slow queue', async () => {
    const message = await slowWebhook();
    expect(await attempted({ ...message, slow: true })).toEqual({ posts: 1, sent: [] });
    expect(await office.delivery(message)).toMatchObject({ state: 'delivered' });
  });

  it('has its retries sent on too, once they are due', async () => {
    const message = await slowWebhook();
    const { sent } = await attempted({ ...message, slow: true }, late);
    expect(sent).toMatchObject([{ to: 'firstRetry', delaySeconds: 300 }]);
    const retry = sent[0]?.message as DeliveryMessage;
    expect(retry).not.toHaveProperty('slow');
    office.clock.now += 300_000;
    expect(await attempted(retry)).toMatchObject({ posts: 0, sent: [{ to: 'slowDeliveries' }] });
  });

  it('has an early message wait for its time before it is sent on', async () => {
    await slowWebhook();
    const retry = office.queue.sent.find(({ message }) => message.attempt === 2)?.message as DeliveryMessage;
    office.clock.now = Date.parse(retry.dueAt) - 1;
    expect(await attempted(retry)).toEqual({ posts: 0, sent: [{ to: 'firstRetry', message: retry, delaySeconds: 1 }] });
    office.clock.now += 1;
    expect(await attempted(retry)).toMatchObject({ posts: 0, sent: [{ to: 'slowDeliveries', delaySeconds: 0 }] });
  });

  it('is not attempted early from the slow queue either', async () => {
    await slowWebhook();
    const retry = office.queue.sent.find(({ message }) => message.attempt === 2)?.message as DeliveryMessage;
    office.clock.now = Date.parse(retry.dueAt) - 60_000;
    const early = { ...retry, slow: true } as const;
    expect(await attempted(early)).toEqual({
      posts: 0,
      sent: [{ to: 'slowDeliveries', message: early, delaySeconds: 60 }],
    });
  });

  it('has no attempts from the normal queue once it is deleted', async () => {
    const message = await slowWebhook();
    await deleteWebhook(office, office.organization, message.webhookId);
    expect(await attempted(message)).toEqual({ posts: 0, sent: [] });
  });

  it('says nothing of that in any answer', async () => {
    const { webhookId } = await slowWebhook();
    const shown = ['id', 'url', 'events', 'active', 'createdAt', 'lastDeliveryAt'].sort();
    expect(Object.keys(await getWebhook(office, office.organization, webhookId)).sort()).toEqual(shown);
    const [listed = {}] = await listWebhooks(office, office.organization);
    expect(Object.keys(listed).sort()).toEqual(shown);
    for (const record of await office.history(webhookId)) expect(record).not.toHaveProperty('slow');
  });
});

describe('a slow webhook', () => {
  it.each([
    ['a success', {}],
    ['a failure', failed],
  ])('goes the normal way again after a quick answer: %s', async (_, outcome) => {
    const message = await slowWebhook();
    await attempted({ ...message, slow: true }, outcome);
    office.clock.now += 1_000;
    expect(await attempted(await nextMessage())).toMatchObject({ posts: 1 });
  });

  it.each([
    ['that took 2 s', { durationMs: 2_000 }],
    ['that was none, though it came at once', { httpStatus: 0, error: 'The receiver refused the connection.' }],
    ['that timed out again', late],
  ])('stays slow after an answer %s', async (_, outcome) => {
    const message = await slowWebhook();
    await attempted({ ...message, slow: true }, outcome);
    office.clock.now += 1_000;
    expect(await attempted(await nextMessage())).toMatchObject({ posts: 0, sent: [{ to: 'slowDeliveries' }] });
  });

  it('stays slow where an earlier quick answer is recorded after the time-out', async () => {
    const [first, second] = [await office.message(), await nextMessage()];
    office.clock.now = opening + 10_000;
    await attempted(first, late);
    office.clock.now = opening + 5_000;
    await attempted(second);
    office.clock.now = opening + 11_000;
    expect(await attempted(await nextMessage())).toMatchObject({ posts: 0, sent: [{ to: 'slowDeliveries' }] });
  });

  it('is one whose receiver answered 200 when the time was over', async () => {
    await attempted(await office.message(), { timedOut: true, durationMs: 10_000 });
    office.clock.now += 1_000;
    expect(await attempted(await nextMessage())).toMatchObject({ posts: 0, sent: [{ to: 'slowDeliveries' }] });
  });

  it('is one whose test delivery timed out', async () => {
    const { id: webhookId } = await office.register();
    const test = { webhookId, event: 'task.completed' } as const;
    await testWebhook({ ...office, sender: notingSender(late).send }, office.organization, test, undefined);
    office.clock.now += 1_000;
    expect(await attempted(await nextMessage())).toMatchObject({ posts: 0, sent: [{ to: 'slowDeliveries' }] });
  });

  it('is quick again by a test delivery that is answered soon', async () => {
    const { webhookId } = await slowWebhook();
    const test = { webhookId, event: 'task.completed' } as const;
    await testWebhook({ ...office, sender: notingSender().send }, office.organization, test, undefined);
    expect(await attempted(await nextMessage())).toMatchObject({ posts: 1 });
  });

  it('does not send messages of other webhooks to the slow queue, in its organization or another', async () => {
    await slowWebhook();
    const other = await office.register({ events: ['task.completed'] });
    const [message] = await office.publish(office.change('task.completed'));
    expect(message?.webhookId).toBe(other.id);
    expect(await attempted(message as DeliveryMessage)).toMatchObject({ posts: 1 });
    const elsewhere = newOffice();
    const { posts, send } = notingSender();
    await elsewhere.deliver(await elsewhere.message(), send);
    expect(posts).toHaveLength(1);
  });
});
