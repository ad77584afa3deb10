import { beforeEach, describe, expect, it } from 'vitest';
import type { TaskEvent } from '../../../lib/contract/webhooks/events.ts';
import { deleteWebhook } from '../../../lib/webhooks/webhooks.ts';
import { prepareTestWebhooks, type TestWebhooks } from '../test-webhooks.ts';

const createTestWebhooks = await prepareTestWebhooks();
let webhooks: TestWebhooks;
beforeEach(() => {
  webhooks = createTestWebhooks();
});

const readEvents = async () =>
  Object.entries(await webhooks.dump()).filter(([key]) => / [0-7]\w{25}$/.test(key) && key.includes('#E '));

/** Returns the ULIDs of the late events, item by item. */
const readLateEvents = async () =>
  Object.entries((await webhooks.dump()) as Record<string, { events?: string[] }>).flatMap(([key, { events = [] }]) =>
    key.includes('#E L#') ? [events] : [],
  );

/** Publishes a change, and returns the ids of the webhooks that it is sent to. */
const subscribersOf = async (change = webhooks.change()) =>
  (await webhooks.publish(change)).map(({ webhookId }) => webhookId).sort();

describe('an event', () => {
  it('is sent to each subscriber of its organization once', async () => {
    await createTestWebhooks().register();
    const one = await webhooks.register();
    const other = await webhooks.register({ events: ['task.completed', 'task.created'] });
    await webhooks.register({ events: ['task.completed', 'task.status_changed', 'agent.failed'] });
    const messages = await webhooks.publish();
    expect(messages.map(({ webhookId }) => webhookId).sort()).toEqual([one.id, other.id].sort());
    expect(new Set(messages.map(({ deliveryId }) => deliveryId)).size).toBe(2);
  });

  it('sends a message of the change’s time, however late it is published', async () => {
    const { id } = await webhooks.register({ secret: 'a secret' });
    const change = webhooks.change();
    webhooks.clock.now += 3_600_000;
    await webhooks.publish(change);
    const message = {
      organization: webhooks.organization,
      webhookId: id,
      deliveryId: expect.stringMatching(/^dlv_01KJMMA2G0[0-9A-Z]{16}$/),
      eventId: expect.stringMatching(/^ev_01KJMMA2G0[0-9A-Z]{16}$/),
      attempt: 1,
      dueAt: '2026-03-01T12:00:00.000Z',
    };
    expect(webhooks.queue.sent).toEqual([{ to: 'deliveries', message, delaySeconds: 0 }]);
  });

  it.each([
    ['one byte', (bytes: number) => 'x'.repeat(bytes)],
    ['two bytes', (bytes: number) => 'ü'.repeat(bytes / 2)],
  ])('is in its message if its data has at most 1 KB, in characters of %s', async (_, titleOf) => {
    await webhooks.register();
    const { events, ...change } = webhooks.change();
    const [event] = events as [TaskEvent];
    const withTitle = (title: string) =>
      ({ ...event, data: { ...event.data, task: { ...event.data.task, title } } }) as TaskEvent;
    const room = 1024 - Buffer.byteLength(JSON.stringify(withTitle('').data));
    for (const [version, left] of [room - (room % 2), room + 2].entries())
      await webhooks.publish({ ...change, version, events: [withTitle(titleOf(left))] });
    const data = JSON.stringify(withTitle(titleOf(room - (room % 2))).data);
    expect(webhooks.queue.contents).toEqual([{ event: 'task.created', data }, undefined]);
  });

  it.each(['🚀', '\ufffe', '\uffff'])(
    'is not in its message with a character that a queue may reject: %j',
    async (title) => {
      await webhooks.register();
      const { events, ...change } = webhooks.change();
      const [{ data }] = events as [TaskEvent];
      await webhooks.publish({
        ...change,
        events: [{ event: 'task.created', data: { ...data, task: { ...data.task, title } } }],
      });
      expect(webhooks.queue.contents).toEqual([undefined]);
    },
  );

  it('is in the log, at the time of the change, also without subscribers', async () => {
    const change = webhooks.change();
    webhooks.clock.now += 5_000;
    expect(await webhooks.publish(change)).toEqual([]);
    const data = expect.stringMatching(
      /^\{"task":\{"id":"tk_.{26}","title":"A task","status":"backlog"\},"occurredAt":/,
    );
    const event = expect.objectContaining({ event: 'task.created', item: change.item, version: 1, data });
    expect(await readEvents()).toEqual([[expect.stringMatching(/ 01KJMMA2G0.{16}$/), event]]);
  });

  it('is sent to a webhook that was registered in the same millisecond, and to none that was registered later', async () => {
    const { id } = await webhooks.register();
    const change = webhooks.change();
    webhooks.clock.now += 1;
    await webhooks.register();
    expect(await subscribersOf(change)).toEqual([id]);
  });

  it('is not sent to a webhook that was deleted before it is published', async () => {
    const { id } = await webhooks.register();
    const change = webhooks.change();
    await deleteWebhook(webhooks, webhooks.organization, id, () => {});
    expect(await webhooks.publish(change)).toEqual([]);
  });

  it('is one of two deliveries if a webhook is subscribed to both events of a change', async () => {
    await webhooks.register({ events: ['task.status_changed', 'task.completed'] });
    const [changed, completed] = [webhooks.change('task.status_changed'), webhooks.change('task.completed')];
    const messages = await webhooks.publish({ ...changed, events: [...changed.events, ...completed.events] });
    expect(new Set(messages.map(({ deliveryId }) => deliveryId)).size).toBe(2);
  });
});

describe('an event that is written', () => {
  it.each([
    [500, 'at most 500 ms after the change is on time', false],
    [501, 'later is listed for followers, once for a change with two events', true],
  ])('%d ms %s', async (ms, _, late) => {
    const [changed, completed] = [webhooks.change('task.status_changed'), webhooks.change('task.completed')];
    webhooks.clock.now += ms;
    await webhooks.publish({ ...changed, events: [...changed.events, ...completed.events] });
    const ulids = (await readEvents()).map(([key]) => key.slice(-26));
    expect(ulids).toHaveLength(2);
    expect((await readLateEvents()).map((events) => new Set(events))).toEqual(late ? [new Set(ulids)] : []);
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
    const unchanged = Object.entries(await webhooks.dump()).filter(([key]) => !key.includes('#E L#'));
    expect(Object.fromEntries(unchanged)).toEqual(before);
  });

  it('is sent to a webhook that the first time did not find', async () => {
    const { id } = await webhooks.register();
    const change = webhooks.change();
    await webhooks.publish(change);
    // Registered in the change's own millisecond, so that it is due the event as well.
    const other = await webhooks.register();
    expect(await subscribersOf(change)).toEqual([id, other.id].sort());
  });

  it('in another version of its item is another event and another delivery', async () => {
    await webhooks.register();
    const change = webhooks.change();
    const [first] = await webhooks.publish(change);
    const [second] = await webhooks.publish({ ...change, version: 2 });
    expect(second?.eventId).not.toBe(first?.eventId);
    expect(second?.deliveryId).not.toBe(first?.deliveryId);
  });
});
