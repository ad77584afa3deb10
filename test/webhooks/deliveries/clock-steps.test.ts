import { beforeEach, describe, expect, it } from 'vitest';
import type { Context } from '../../../lib/context.ts';
import type { DeliveryMessage } from '../../../lib/deployment/messages.ts';
import { readEvent } from '../../../lib/table/deliveries/event-log.ts';
import { readTarget, type Target } from '../../../lib/table/deliveries/webhooks.ts';
import { createLogClock } from '../../../lib/table/events/log-clock.ts';
import { compareDeliveries } from '../../../lib/webhooks/deliveries/compare-deliveries.ts';
import { eventIdOf } from '../../../lib/webhooks/deliveries/derived-ids.ts';
import { holdBack } from '../../../lib/webhooks/deliveries/paused-attempts.ts';
import { type Change, publishEvents } from '../../../lib/webhooks/deliveries/publish-events.ts';
import { sweepDeliveries } from '../../../lib/webhooks/deliveries/sweep.ts';
import { listEvents } from '../../../lib/webhooks/events.ts';
import { registerWebhook } from '../../../lib/webhooks/registration.ts';
import { getWebhook, updateWebhook } from '../../../lib/webhooks/webhooks.ts';
import { clockAt } from '../../service.ts';
import { prepareTestWebhooks, type TestWebhooks } from '../test-webhooks.ts';

const createWebhooks = await prepareTestWebhooks();
const hourMs = 3_600_000;
const beginning = `ev_${'0'.repeat(26)}`;
let webhooks: TestWebhooks;
let monotonic: ReturnType<typeof clockAt>;
let machine: Context;
let after: string;

beforeEach(() => {
  webhooks = createWebhooks();
  monotonic = clockAt(1_000);
  machine = start();
  after = beginning;
});

/** Starts the process of a deployment on one machine, which remembers nothing of earlier ones. */
const start = (): Context => ({
  ...webhooks.createContainer(),
  monotonic,
  ownsLogs: true,
  logClock: createLogClock(webhooks.clock, monotonic),
});

/** Sets the clock forward or back. */
function step(ms: number): void {
  webhooks.clock.now += ms;
}

function pass(ms: number): void {
  webhooks.clock.now += ms;
  monotonic.now += ms;
}

/** Publishes an event of a task that is created now, or the given change; returns its id and its messages. */
async function publish(change: Change = webhooks.change()): Promise<{ id: string; messages: DeliveryMessage[] }> {
  const { item, version, events } = change;
  const [{ event, data }] = events as [Change['events'][number]];
  const before = webhooks.queue.sent.length;
  await publishEvents(machine, change);
  const messages = webhooks.queue.sent.slice(before).map(({ message }) => message);
  return { id: eventIdOf(Date.parse(data.occurredAt), { item, version, event }), messages };
}

/** Reads the next page of the follower; returns the ids of its events. */
async function follow(): Promise<string[]> {
  const { items, next } = await listEvents(machine, webhooks.organization, { after, limit: 100 });
  after = next as string;
  return items.map(({ id }) => id);
}

const register = () => {
  const { organization } = webhooks;
  return registerWebhook(machine, organization, { url: 'https://example.com', events: ['task.created'] }, undefined);
};

describe('a follower', () => {
  it.each([5_000, hourMs])('misses no event and waits for none after a step back of %d ms', async (back) => {
    const published: string[] = [];
    const seen: string[] = [];
    for (let seconds = 0; seconds < 5; seconds++) {
      published.push((await publish()).id);
      pass(1_000);
      seen.push(...(await follow()));
    }
    expect(seen).toEqual(published);
    step(-back);
    for (let seconds = 0; seconds < 15; seconds++) {
      const { id } = await publish();
      published.push(id);
      // The clock of the log has half the speed, so events are visible after 1.5 s.
      pass(750);
      await publish().then((other) => published.push(other.id));
      pass(1_000);
      seen.push(...(await follow()));
      expect(seen).toContain(id);
    }
    pass(2_000);
    seen.push(...(await follow()));
    expect(new Set(seen)).toEqual(new Set(published));
  });

  it('gets new events at once after a restart, if the clock was an hour ahead before', async () => {
    step(hourMs);
    const first = (await publish()).id;
    pass(10_000);
    expect(await follow()).toEqual([first]);
    await follow();
    step(-hourMs);
    machine = start();
    expect(await follow()).toEqual([]);
    const second = (await publish()).id;
    pass(2_000);
    expect(await follow()).toEqual([second]);
    // A follower that begins now gets both.
    after = beginning;
    expect(new Set(await follow())).toEqual(new Set([first, second]));
  });

  it('gets an event at once that a clock an hour ahead has made', async () => {
    step(hourMs);
    const change = webhooks.change();
    step(-hourMs);
    machine = start();
    const { id } = await publish(change);
    pass(2_000);
    expect(await follow()).toEqual([id]);
  });

  it('that names a position of a clock that is an hour ahead continues with the next events', async () => {
    await publish();
    pass(1_000);
    await follow();
    const now = after;
    after = eventIdOf(webhooks.clock() + hourMs, { item: 'tk_1', version: 1, event: 'task.created' });
    expect(await follow()).toEqual([]);
    expect(after).toBe(now);
  });
});

describe('a webhook that is registered before a step back', () => {
  it.each([5_000, hourMs])('of %d ms gets the events after it, and none from before its registration', async (back) => {
    const before = webhooks.change();
    pass(20);
    const { id } = await register();
    pass(20);
    expect((await publish(before)).messages).toEqual([]);
    step(-back);
    const { messages } = await publish();
    expect(messages.map(({ webhookId }) => webhookId)).toEqual([id]);
    // One that is registered after the step gets no event from before that, however late they are published.
    const earlier = webhooks.change();
    pass(20);
    const other = await register();
    pass(20);
    const later = webhooks.change();
    pass(400);
    expect((await publish(earlier)).messages.map(({ webhookId }) => webhookId)).toEqual([id]);
    const receivers = (await publish(later)).messages.map(({ webhookId }) => webhookId);
    expect(new Set(receivers)).toEqual(new Set([id, other.id]));
  });

  it('and a restart gets the events after both', async () => {
    step(hourMs);
    await publish();
    pass(60_000);
    const { id } = await register();
    step(-hourMs);
    machine = start();
    pass(500);
    const change = webhooks.change();
    pass(200);
    expect((await publish(change)).messages.map(({ webhookId }) => webhookId)).toEqual([id]);
  });

  it('has a lost delivery of such an event, and none of an earlier one', async () => {
    const before = webhooks.change();
    pass(20);
    await register();
    pass(20);
    await publish(before);
    step(-5_000);
    const { id } = await publish();
    const range = { from: 0, to: webhooks.clock() + hourMs, now: webhooks.clock() + hourMs };
    const { lost } = await compareDeliveries(machine, webhooks.organization, range);
    expect(lost.map(({ eventId }) => eventId)).toEqual([id]);
  });

  it('skips the events of a pause, and no others that have time stamps of the pause', async () => {
    const { organization } = webhooks;
    const { id } = await register();
    const pauseOrResume = (active: boolean) => updateWebhook(machine, organization, id, { active }, () => {});
    const isHeldBack = async ({ id: eventId, messages: [message] }: Awaited<ReturnType<typeof publish>>) => {
      const event = await readEvent(machine, organization, eventId);
      const target = await readTarget(machine, organization, id);
      return holdBack(machine, message as DeliveryMessage, target as Target, event?.logTime);
    };
    pass(1_000);
    await pauseOrResume(false);
    pass(3_000);
    await pauseOrResume(true);
    step(-2_000);
    const other = await publish();
    expect(await isHeldBack(other)).toBe(false);
    pass(100);
    await pauseOrResume(false);
    pass(100);
    const skipped = await publish();
    pass(100);
    await pauseOrResume(true);
    expect(await isHeldBack(skipped)).toBe(true);
    expect((await getWebhook(machine, organization, id)).data.active).toBe(true);

    pass(20 * 60_000);
    const before = webhooks.queue.sent.length;
    await sweepDeliveries(machine, { until: webhooks.clock() });
    const sentAgain = webhooks.queue.sent.slice(before).map(({ message }) => message);
    expect(sentAgain.flatMap(({ webhookId, eventId }) => (webhookId === id ? [eventId] : []))).toEqual([other.id]);
  });
});
