import { beforeEach, describe, expect, it } from 'vitest';
import { timestamp } from '../../lib/contract/ids.ts';
import type { DeliveryMessage } from '../../lib/deployment/messages.ts';
import { publishEvents } from '../../lib/webhooks/publish-events.ts';
import { deleteWebhook } from '../../lib/webhooks/webhooks.ts';
import { failed, notingSender, type Office, opening, openOffices } from './office.ts';

const newOffice = await openOffices();
let office: Office;

beforeEach(() => {
  office = newOffice();
});

describe('an event', () => {
  it('becomes one delivery for each subscriber', async () => {
    const hearing = [await office.register(), await office.register({ events: ['task.completed', 'task.created'] })];
    await office.register({ events: ['task.completed', 'task.status_changed', 'agent.failed'] });
    const messages = await office.publish();
    expect(messages.map(({ webhookId }) => webhookId).sort()).toEqual(hearing.map(({ id }) => id).sort());
    expect(new Set(messages.map(({ deliveryId }) => deliveryId)).size).toBe(2);
  });

  it('sends a message without delay and without any text of the event', async () => {
    const { id } = await office.register({ secret: 'a secret' });
    await office.publish();
    expect(office.queue.sent).toEqual([
      {
        to: 'deliveries',
        message: {
          organization: office.organization,
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
    const change = office.change();
    office.clock.now += 5_000;
    expect(await office.publish(change)).toEqual([]);
    const [event, ...others] = Object.entries(await office.dump()).filter(([key]) => key.includes('#E '));
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
    const other = newOffice();
    await other.register();
    const before = await other.dump();
    const { id } = await office.register();
    expect((await office.publish()).map(({ webhookId }) => webhookId)).toEqual([id]);
    expect(await other.dump()).toEqual(before);
  });

  it('is sent to a webhook that was registered in the same millisecond, and to none that was registered later', async () => {
    const { id } = await office.register();
    const change = office.change();
    office.clock.now += 1;
    await office.register();
    expect((await office.publish(change)).map(({ webhookId }) => webhookId)).toEqual([id]);
  });

  it('is not sent to a webhook that was deleted before it is published', async () => {
    const { id } = await office.register();
    const change = office.change();
    await deleteWebhook(office, office.organization, id);
    expect(await office.publish(change)).toEqual([]);
  });

  it('is one of two deliveries if a webhook is subscribed to both events of a change', async () => {
    await office.register({ events: ['task.status_changed', 'task.completed'] });
    const [changed, completed] = [office.change('task.status_changed'), office.change('task.completed')];
    const messages = await office.publish({ ...changed, events: [...changed.events, ...completed.events] });
    expect(new Set(messages.map(({ deliveryId }) => deliveryId)).size).toBe(2);
    const { posts, send } = notingSender();
    for (const message of messages) await office.deliver(message, send);
    expect(posts.map(({ body }) => JSON.parse(body).event).sort()).toEqual(['task.completed', 'task.status_changed']);
  });

  it('of a hundred webhooks is a hundred deliveries', async () => {
    await Promise.all(Array.from({ length: 100 }, () => office.register()));
    const messages = await office.publish();
    expect(new Set(messages.map(({ webhookId }) => webhookId)).size).toBe(100);
  });
});

describe('a change that is published again', () => {
  it('appends nothing new, and sends the same messages', async () => {
    await office.register();
    const change = office.change();
    const first = await office.publish(change);
    const before = await office.dump();
    office.clock.now += 30_000;
    expect(await office.publish(change)).toEqual(first);
    expect(await office.dump()).toEqual(before);
  });

  it.each([
    ['delivered', {}],
    ['exhausted', failed],
  ])('leads to no attempt where it is %s', async (_, outcome) => {
    await office.register();
    const change = office.change();
    const [message] = await office.publish(change);
    await office.attemptAll(message as DeliveryMessage, notingSender(outcome).send);
    const before = await office.dump();
    const { posts, send } = notingSender();
    for (const again of await office.publish(change)) await office.deliver(again, send);
    expect(posts).toEqual([]);
    expect(await office.dump()).toEqual(before);
  });

  it('sends what a crash before the send left behind', async () => {
    const { id } = await office.register();
    const change = office.change();
    office.queue.failsOnce = true;
    await expect(office.publish(change)).rejects.toThrow('The queue is away.');
    expect(office.queue.sent).toEqual([]);
    const [message] = await office.publish(change);
    expect(message?.webhookId).toBe(id);
    expect(await office.history(id)).toEqual([]);
  });

  it('is sent to a webhook that the first time did not find', async () => {
    const { id } = await office.register();
    const change = office.change();
    await office.publish(change);
    // Registered in the change's own millisecond, so that it is due the event as well.
    const other = await office.register();
    expect((await office.publish(change)).map(({ webhookId }) => webhookId).sort()).toEqual([id, other.id].sort());
  });

  it('at the same moment by several makes one delivery', async () => {
    await office.register();
    const change = office.change();
    await Promise.all(Array.from({ length: 5 }, () => publishEvents(office, change)));
    expect(new Set(office.queue.sent.map(({ message }) => message.deliveryId)).size).toBe(1);
    expect(Object.keys(await office.dump()).filter((key) => key.includes('#E '))).toHaveLength(1);
  });
});

describe('another version of an item', () => {
  it('is another delivery', async () => {
    await office.register();
    const change = office.change();
    const [first] = await office.publish(change);
    const [second] = await office.publish({ ...change, version: 2 });
    expect(second?.deliveryId).not.toBe(first?.deliveryId);
  });

  it('is a delivery of the change’s time, however late it is published', async () => {
    await office.register();
    const change = office.change('task.created', timestamp(opening));
    office.clock.now += 3_600_000;
    const [message] = await office.publish(change);
    expect(message?.deliveryId.slice(4, 14)).toBe('01KJMMA2G0');
    expect(message?.dueAt).toBe('2026-03-01T12:00:00.000Z');
    expect(office.queue.sent[0]?.delaySeconds).toBe(0);
  });
});
