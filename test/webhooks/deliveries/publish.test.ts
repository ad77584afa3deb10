import { beforeEach, describe, expect, it } from 'vitest';
import { timestamp } from '../../../lib/contract/ids.ts';
import { publishEvents } from '../../../lib/webhooks/deliveries/publish-events.ts';
import { deleteWebhook } from '../../../lib/webhooks/webhooks.ts';
import { notingSender, prepareTestWebhooks, startTime, type TestWebhooks } from '../test-webhooks.ts';

const createTestWebhooks = await prepareTestWebhooks();
let webhooks: TestWebhooks;

beforeEach(() => {
  webhooks = createTestWebhooks();
});

describe('an event', () => {
  it('becomes one delivery for each subscriber', async () => {
    const subscribers = [
      await webhooks.register(),
      await webhooks.register({ events: ['task.completed', 'task.created'] }),
    ];
    await webhooks.register({ events: ['task.completed', 'task.status_changed', 'agent.failed'] });
    const messages = await webhooks.publish();
    expect(messages.map(({ webhookId }) => webhookId).sort()).toEqual(subscribers.map(({ id }) => id).sort());
    expect(new Set(messages.map(({ deliveryId }) => deliveryId)).size).toBe(2);
  });

  it('sends a message without delay and without any text of the event', async () => {
    const { id } = await webhooks.register({ secret: 'a secret' });
    await webhooks.publish();
    expect(webhooks.queue.sent).toEqual([
      {
        to: 'deliveries',
        message: {
          organization: webhooks.organization,
          webhookId: id,
          deliveryId: expect.stringMatching(/^dlv_[0-9A-Z]{26}$/),
          eventId: expect.stringMatching(/^ev_[0-9A-Z]{26}$/),
          attempt: 1,
          dueAt: '2026-03-01T12:00:00.000Z',
        },
        delaySeconds: 0,
      },
    ]);
  });

  it('is in the log, at the time of the change, with and without subscribers', async () => {
    const change = webhooks.change();
    webhooks.clock.now += 5_000;
    expect(await webhooks.publish(change)).toEqual([]);
    const [event, ...others] = Object.entries(await webhooks.dump()).filter(([key]) => key.includes('#E '));
    expect(others).toEqual([]);
    expect(event?.[0]).toMatch(/ 01KJMMA2G0.{16}$/);
    expect(event?.[1]).toMatchObject({
      event: 'task.created',
      item: change.item,
      version: 1,
      data: expect.stringMatching(/^\{"task":\{"id":"tk_.{26}","title":"A task","status":"backlog"\},"occurredAt":/),
    });
  });

  it('is not sent to the webhooks of another organization', async () => {
    const other = createTestWebhooks();
    await other.register();
    const before = await other.dump();
    const { id } = await webhooks.register();
    expect((await webhooks.publish()).map(({ webhookId }) => webhookId)).toEqual([id]);
    expect(await other.dump()).toEqual(before);
  });

  it('is sent to a webhook that was registered in the same millisecond, and to none that was registered later', async () => {
    const { id } = await webhooks.register();
    const change = webhooks.change();
    webhooks.clock.now += 1;
    await webhooks.register();
    expect((await webhooks.publish(change)).map(({ webhookId }) => webhookId)).toEqual([id]);
  });

  it('is not sent to a webhook that was deleted before it is published', async () => {
    const { id } = await webhooks.register();
    const change = webhooks.change();
    await deleteWebhook(webhooks, webhooks.organization, id);
    expect(await webhooks.publish(change)).toEqual([]);
  });

  it('is one of two deliveries if a webhook is subscribed to both events of a change', async () => {
    await webhooks.register({ events: ['task.status_changed', 'task.completed'] });
    const [changed, completed] = [webhooks.change('task.status_changed'), webhooks.change('task.completed')];
    const messages = await webhooks.publish({ ...changed, events: [...changed.events, ...completed.events] });
    expect(new Set(messages.map(({ deliveryId }) => deliveryId)).size).toBe(2);
    const { posts, send } = notingSender();
    for (const message of messages) await webhooks.deliver(message, send);
    expect(posts.map(({ body }) => JSON.parse(body).event).sort()).toEqual(['task.completed', 'task.status_changed']);
  });

  it('of a hundred webhooks is a hundred deliveries', async () => {
    await Promise.all(Array.from({ length: 100 }, () => webhooks.register()));
    const messages = await webhooks.publish();
    expect(new Set(messages.map(({ webhookId }) => webhookId)).size).toBe(100);
  });
});

describe('a change that is published again', () => {
  it('appends nothing new, and sends the same messages', async () => {
    await webhooks.register();
    const change = webhooks.change();
    const first = await webhooks.publish(change);
    const before = await webhooks.dump();
    webhooks.clock.now += 30_000;
    expect(await webhooks.publish(change)).toEqual(first);
    expect(await webhooks.dump()).toEqual(before);
  });

  it('is sent to a webhook that the first time did not find', async () => {
    const { id } = await webhooks.register();
    const change = webhooks.change();
    await webhooks.publish(change);
    // Registered in the change's own millisecond, so that it is due the event as well.
    const other = await webhooks.register();
    expect((await webhooks.publish(change)).map(({ webhookId }) => webhookId).sort()).toEqual([id, other.id].sort());
  });

  it('at the same moment by several makes one delivery', async () => {
    await webhooks.register();
    const change = webhooks.change();
    await Promise.all(Array.from({ length: 5 }, () => publishEvents(webhooks, change)));
    expect(new Set(webhooks.queue.sent.map(({ message }) => message.deliveryId)).size).toBe(1);
    expect(Object.keys(await webhooks.dump()).filter((key) => key.includes('#E '))).toHaveLength(1);
  });
});

describe('another version of an item', () => {
  it('is another delivery', async () => {
    await webhooks.register();
    const change = webhooks.change();
    const [first] = await webhooks.publish(change);
    const [second] = await webhooks.publish({ ...change, version: 2 });
    expect(second?.deliveryId).not.toBe(first?.deliveryId);
  });

  it('is a delivery of the change’s time, however late it is published', async () => {
    await webhooks.register();
    const change = webhooks.change('task.created', timestamp(startTime));
    webhooks.clock.now += 3_600_000;
    const [message] = await webhooks.publish(change);
    expect(message?.deliveryId.slice(4, 14)).toBe('01KJMMA2G0');
    expect(message?.dueAt).toBe('2026-03-01T12:00:00.000Z');
    expect(webhooks.queue.sent[0]?.delaySeconds).toBe(0);
  });
});
