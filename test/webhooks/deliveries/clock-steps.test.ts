import { beforeEach, describe, expect, it } from 'vitest';
import type { Context } from '../../../lib/context/context.ts';
import { timestamp } from '../../../lib/contract/ids.ts';
import type { NewWebhook, WebhookPatch } from '../../../lib/contract/webhooks/webhooks.ts';
import type { DeliveryMessage } from '../../../lib/names/messages.ts';
import { keys } from '../../../lib/table/access/keys.ts';
import { transact } from '../../../lib/table/access/transact.ts';
import { type LoggedEvent, readEvent, subscribedTimeOf } from '../../../lib/table/events/event-log.ts';
import { listLateEvent } from '../../../lib/table/events/late-events.ts';
import { createLogClock } from '../../../lib/table/events/log-clock.ts';
import { storeStepsBeforeWrites } from '../../../lib/table/events/log-times.ts';
import { writeHeartbeat } from '../../../lib/table/organizations/heartbeat.ts';
import { storeFailing } from '../../../lib/table/webhooks/failing.ts';
import { leaseSlowAttempt, markWebhookSlow, takePermits } from '../../../lib/table/webhooks/webhook-attempts.ts';
import { readTarget, readWebhook, type StoredWebhook, type Target } from '../../../lib/table/webhooks/webhooks.ts';
import { noteSuccess } from '../../../lib/webhooks/announce-failures.ts';
import { eventIdOf } from '../../../lib/webhooks/attempts/derived-ids.ts';
import { isSkipped } from '../../../lib/webhooks/attempts/paused-attempts.ts';
import { compareDeliveries } from '../../../lib/webhooks/deliveries/compare-deliveries.ts';
import { type Change, publishEvents } from '../../../lib/webhooks/deliveries/publish-events.ts';
import { sweepDeliveries } from '../../../lib/webhooks/deliveries/sweep.ts';
import { getDelivery } from '../../../lib/webhooks/delivery-details.ts';
import { listEvents } from '../../../lib/webhooks/events.ts';
import { checkFailing } from '../../../lib/webhooks/failing-receivers.ts';
import { getRecovery, recoverWebhook } from '../../../lib/webhooks/recoveries/recovery.ts';
import { sweepRecoveries } from '../../../lib/webhooks/recoveries/sweep.ts';
import { redeliverDelivery } from '../../../lib/webhooks/redelivery.ts';
import { registerWebhook } from '../../../lib/webhooks/registration.ts';
import { getWebhook, updateWebhook } from '../../../lib/webhooks/webhooks.ts';
import { clockAt } from '../../service.ts';
import { prepareTestWebhooks, slowAttempts, type TestWebhooks } from '../test-webhooks.ts';

const createWebhooks = await prepareTestWebhooks();
const hourMs = 3_600_000;
const beginning = `ev_${'0'.repeat(26)}`;
let webhooks: TestWebhooks;
let monotonic: ReturnType<typeof clockAt>;
let machine: Context;
let after: string;

beforeEach(async () => {
  webhooks = createWebhooks();
  // The organizations of all tests share a table, as the organizations of one machine do.
  await transact(webhooks.table, [{ Delete: { Key: keys.logClock() } }]);
  monotonic = clockAt(1_000);
  machine = start();
  after = beginning;
});

/** Starts the process of a deployment on one machine, which remembers nothing of earlier ones. */
function start(): Context {
  const logClock = createLogClock(webhooks.clock, monotonic);
  const pause = async (milliseconds: number) => pass(milliseconds);
  const context = { ...webhooks.createContainer(), monotonic, ownsLogs: true, logClock, pause };
  storeStepsBeforeWrites(context);
  return context;
}

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

const register = (fields: Partial<NewWebhook> = {}) => {
  const { organization } = webhooks;
  const body = { url: 'https://example.com', events: ['task.created' as const], ...fields };
  return registerWebhook(machine, organization, body, undefined);
};

const update = (id: string, patch: WebhookPatch) => updateWebhook(machine, webhooks.organization, id, patch, () => {});

/** Returns whether the webhook of the message of an event skips the event. */
async function isHeldBack({ id, messages: [message] }: Awaited<ReturnType<typeof publish>>): Promise<boolean> {
  const event = await readEvent(machine, webhooks.organization, id);
  const webhook = await readWebhook(machine, webhooks.organization, message?.webhookId as string);
  return isSkipped(webhook as StoredWebhook, message as DeliveryMessage, subscribedTimeOf(event as LoggedEvent));
}

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

  it.each([0, 5_000])(
    'gets a late event once, however often the process is killed, also after a step back of %d ms',
    async (back) => {
      await publish();
      step(-back);
      const change = webhooks.change();
      pass(60_000);
      await follow();
      const { id } = await publish(change);
      const seen: string[] = [];
      for (let starts = 0; starts < 3; starts++) {
        pass(2_000);
        seen.push(...(await follow()));
        machine = start();
        await publish(change);
      }
      pass(60_000);
      expect([...seen, ...(await follow())]).toEqual([id]);
    },
  );

  it('gets a late event that the process before has written and not listed', async () => {
    await publish();
    const change = webhooks.change();
    pass(60_000);
    await follow();
    machine.batchers.listLateEvent = () => Promise.reject(new Error('killed'));
    await expect(publish(change)).rejects.toThrow('killed');
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
    pass(1_000);
    await update(id, { active: false });
    pass(3_000);
    await update(id, { active: true });
    step(-2_000);
    const other = await publish();
    expect(await isHeldBack(other)).toBe(false);
    pass(100);
    await update(id, { active: false });
    pass(100);
    const skipped = await publish();
    pass(100);
    await update(id, { active: true });
    expect(await isHeldBack(skipped)).toBe(true);
    expect((await getWebhook(machine, organization, id)).data.active).toBe(true);

    pass(20 * 60_000);
    const before = webhooks.queue.sent.length;
    await sweepDeliveries(machine, { until: webhooks.clock() });
    const sentAgain = webhooks.queue.sent.slice(before).map(({ message }) => message);
    expect(sentAgain.flatMap(({ webhookId, eventId }) => (webhookId === id ? [eventId] : []))).toEqual([other.id]);

    const deliveryOf = ({ messages: [message] }: typeof other) => message as DeliveryMessage;
    expect(await getDelivery(machine, organization, deliveryOf(other))).toMatchObject({ state: 'pending' });
    expect(await getDelivery(machine, organization, deliveryOf(skipped))).toMatchObject({ state: 'skipped' });
    const redelivery = await redeliverDelivery(machine, organization, deliveryOf(other), undefined);
    expect(redelivery).toMatchObject({ state: 'pending' });
    const ofSkipped = redeliverDelivery(machine, organization, deliveryOf(skipped), undefined);
    await expect(ofSkipped).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('after a step back and a restart', () => {
  beforeEach(() => step(hourMs));

  it.each([
    [hourMs, 'has published an event'],
    [hourMs, 'has published nothing'],
    [3_000, 'has published an event'],
    [3_000, 'has published nothing'],
    [3_000, 'has published an event long before and nothing'],
  ])(
    'of %d ms, a webhook gets the event of a change that the process before, which %s since the step, has not published',
    async (back, before) => {
      if (before.includes('long before')) {
        await publish();
        step(-hourMs);
        await publish();
        pass(24 * hourMs);
      }
      const { id } = await register();
      await publish();
      pass(1_000);
      step(-back);
      if (before === 'has published an event') await publish();
      pass(100);
      const change = webhooks.change();
      pass(100);
      machine = start();
      pass(100);
      expect((await publish(change)).messages.map(({ webhookId }) => webhookId)).toEqual([id]);
    },
  );

  it.each([5_000, hourMs])(
    'of %d ms, changes from before and in a pause, which the process before has not published, have different times',
    async (back) => {
      const { id } = await register();
      await publish();
      pass(1_000);
      step(-back);
      await publish();
      pass(100);
      const before = webhooks.change();
      pass(100);
      await update(id, { active: false });
      pass(100);
      const during = webhooks.change();
      pass(100);
      await update(id, { active: true });
      pass(100);
      const later = webhooks.change();
      pass(100);
      for (let restarts = 0; restarts < 3; restarts++) {
        machine = start();
        pass(100);
        const published = [];
        for (const change of [before, during, later]) published.push(await isHeldBack(await publish(change)));
        expect(published).toEqual([false, true, false]);
      }
    },
  );

  it('shorter than the restart, a webhook gets the event of a change that the process before has not published', async () => {
    const { id } = await register();
    await publish();
    pass(1_000);
    step(-3_000);
    const change = webhooks.change();
    await writeHeartbeat(machine);
    pass(10_000);
    machine = start();
    expect((await publish(change)).messages.map(({ webhookId }) => webhookId)).toEqual([id]);
  });

  it('a change from before a pause is not skipped because the clock was set back after both', async () => {
    const { id } = await register();
    const change = webhooks.change();
    pass(3_000);
    await update(id, { active: false });
    step(-2_000);
    await publish();
    pass(100);
    machine = start();
    pass(100);
    expect(await isHeldBack(await publish(change))).toBe(false);
  });

  it('a change from before a pause is not skipped because positions of late events were ahead of the clock', async () => {
    const { id } = await register();
    const first = await publish();
    await listLateEvent({ ...machine, clock: () => webhooks.clock() + 30_000 }, webhooks.organization, first.id);
    const change = webhooks.change();
    pass(1_000);
    await update(id, { active: false });
    machine = start();
    pass(100);
    expect(await isHeldBack(await publish(change))).toBe(false);
    expect(await isHeldBack(await publish())).toBe(true);
  });

  it('an event that the process before has published keeps its time', async () => {
    const { id } = await register();
    await update(id, { active: false });
    pass(500);
    const change = webhooks.change();
    expect(await isHeldBack(await publish(change))).toBe(true);
    pass(500);
    await update(id, { active: true });
    step(-3_000);
    machine = start();
    // From now on, the time stamp of the change can be one from after the step, too.
    pass(3_000);
    expect(await isHeldBack(await publish(change))).toBe(true);
  });

  it('events are compared with a pause from before the step', async () => {
    const { id } = await register();
    pass(10_000);
    await update(id, { active: false });
    step(-hourMs);
    machine = start();
    pass(1_000);
    expect(await isHeldBack(await publish())).toBe(true);
  });

  it('events are compared with a filter from before the step', async () => {
    const { id } = await register();
    pass(10_000);
    await update(id, { taskFilter: { projectId: 'another project' } });
    step(-hourMs);
    machine = start();
    pass(1_000);
    expect((await publish()).messages).toEqual([]);
  });

  it('events are compared with a pause of failing deliveries', async () => {
    const { organization } = webhooks;
    const { id } = await register();
    step(-hourMs);
    machine = start();
    const since = timestamp(webhooks.clock() - 6 * 24 * hourMs);
    await storeFailing(machine, organization, id, undefined, { since, exhausted: 10, checkedUntil: since });
    const before = await publish();
    pass(100);
    const target = (await readTarget(machine, organization, id)) as Target;
    expect(await checkFailing(machine, organization, id, target, webhooks.clock())).toBe(true);
    pass(100);
    const during = await publish();
    pass(100);
    const paused = (await readTarget(machine, organization, id)) as Target;
    await noteSuccess(machine, organization, id, paused, { resumes: true });
    pass(100);
    const later = await publish();
    expect(await Promise.all([before, during, later].map(isHeldBack))).toEqual([false, true, false]);
  });

  it.each([true, false])('a recovery sends the events that a pause has skipped; restart: %s', async (restarts) => {
    const { id } = await register();
    await update(id, { active: false });
    pass(1_000);
    const published = await publish();
    pass(200_000);
    step(-hourMs);
    if (restarts) machine = start();
    await update(id, { active: true });
    expect(await isHeldBack(published)).toBe(true);

    const body = { since: webhooks.clock() + hourMs - 300_000, include: ['skipped' as const] };
    const { matched, recoveryId } = await recoverWebhook(machine, webhooks.organization, id, body, undefined);
    expect(matched).toBe(1);
    // Until followers can see the event.
    pass(2_000);
    const sweepAgain = async () => {
      const before = webhooks.queue.sent.length;
      await sweepRecoveries(machine, { until: webhooks.clock(), hasTime: () => true });
      return webhooks.queue.sent.slice(before).map(({ message }) => message);
    };
    const [message] = await sweepAgain();
    expect(message).toMatchObject({ eventId: published.id });
    pass(10_000);
    expect(await webhooks.attempt(message as DeliveryMessage, {}, machine)).toMatchObject({ posts: 1 });
    const sentAgain: DeliveryMessage[] = [];
    for (let minutes = 0; minutes < 10; minutes++) {
      pass(60_000);
      sentAgain.push(...(await sweepAgain()));
    }
    expect(sentAgain).toEqual([]);
    const recovery = await getRecovery(machine, webhooks.organization, id, recoveryId as string);
    expect(recovery).toMatchObject({ status: 'completed', sent: 1, delivered: 1 });
  });

  it.each([true, false])('an attempt that had begun late is not made again; restart: %s', async (restarts) => {
    step(-hourMs);
    await register();
    const [message] = (await publish()).messages as [DeliveryMessage];
    step(hourMs);
    expect(await webhooks.attempt(message, {}, machine)).toMatchObject({ posts: 1 });
    step(-hourMs);
    if (restarts) machine = start();
    expect(await webhooks.attempt(message, {}, machine)).toMatchObject({ posts: 0 });
    expect(await webhooks.history(message.webhookId)).toHaveLength(1);
  });

  it('an attempt to a slow webhook waits no longer than its event is old by the clock of the log', async () => {
    step(-hourMs);
    const { id: webhookId } = await register();
    await publish();
    step(-hourMs);
    const [message] = (await publish()).messages as [DeliveryMessage];
    step(hourMs);
    pass(8_000);
    await markWebhookSlow(machine, webhooks.organization, webhookId);
    const [now, until] = [timestamp(webhooks.clock()), timestamp(webhooks.clock() + 20_000)];
    for (let number = 0; number < slowAttempts; number++)
      await leaseSlowAttempt(machine, webhooks.organization, webhookId, { number, now, until });
    const { sent } = await webhooks.attempt({ ...message, slow: true }, {}, machine);
    expect(sent.map(({ delaySeconds }) => delaySeconds)).toEqual([2]);
  });
});

describe('times that a clock an hour ahead has booked', () => {
  let id: string;
  let booked: DeliveryMessage[];
  /** The monotonic times of the requests. */
  let began: number[];
  const permits = { count: 10, maxPerSecond: 1, pacedMs: 1_000, aheadMs: 2_000, longestMs: 20_000 };

  beforeEach(async () => {
    began = [];
    ({ id } = await register({ maxPerSecond: 1 }));
    step(hourMs);
    await attemptEach(await publishEach(1));
    await takePermits(machine, webhooks.organization, id, { ...permits, now: webhooks.clock() });
    booked = await attemptEach(await publishEach(3));
    expect(booked).toHaveLength(3);
    for (const { bookedAt } of booked) expect(Date.parse(bookedAt as string)).toBeGreaterThan(webhooks.clock());
    step(-hourMs);
    pass(2_000);
  });

  async function publishEach(count: number): Promise<DeliveryMessage[]> {
    const messages: DeliveryMessage[] = [];
    for (let nth = 0; nth < count; nth++) messages.push(...(await publish()).messages);
    return messages;
  }

  /** Makes attempts one after the other; returns the messages that are sent again. */
  async function attemptEach(messages: readonly DeliveryMessage[]): Promise<DeliveryMessage[]> {
    const again: DeliveryMessage[] = [];
    for (const message of messages) {
      const { posts, sent } = await webhooks.attempt(message, {}, machine);
      if (posts > 0) began.push(monotonic.now);
      again.push(...sent.map((one) => one.message));
    }
    return again;
  }

  /** Makes attempts until none waits. */
  async function attemptAll(messages: readonly DeliveryMessage[]): Promise<void> {
    let waiting = messages;
    for (let tries = 0; waiting.length > 0 && tries < 100; tries++) {
      waiting = await attemptEach(waiting);
      pass(250);
    }
    expect(waiting).toEqual([]);
  }

  it.each([
    ['the attempts themselves', () => attemptAll(booked)],
    ['a new event', async () => attemptAll(await publishEach(1))],
    ['copies of the messages from before', () => attemptAll(booked.map(({ bookedAt, paceVersion, ...copy }) => copy))],
    [
      'a restart',
      async () => {
        machine = start();
        await attemptAll(await sweepAll());
      },
    ],
  ])('end with %s, and all attempts are made once, at the rate', async (_, begin) => {
    await begin();
    expect((await readTarget(machine, webhooks.organization, id))?.bookedUntil ?? 0).toBeLessThan(
      webhooks.clock() + 10_000,
    );
    await attemptAll(await sweepAll());
    await attemptAll(booked);
    const isNew = began.length === 5;
    expect(began).toHaveLength(isNew ? 5 : 4);
    for (const [nth, time] of began.entries()) expect(time - (began[nth - 1] ?? 0)).toBeGreaterThanOrEqual(1_000);
    expect(await webhooks.history(id)).toHaveLength(began.length);
  });

  it('of less than a minute stay', async () => {
    const messages = await publishEach(3);
    await attemptEach(messages);
    const version = (await readWebhook(machine, webhooks.organization, id))?.version;
    step(-30_000);
    await attemptEach(await publishEach(1));
    expect((await readWebhook(machine, webhooks.organization, id))?.version).toBe(version);
  });

  /** Sweeps all that waits, as the local service does at its start and after a step back; returns the sent messages. */
  async function sweepAll(): Promise<DeliveryMessage[]> {
    const before = webhooks.queue.sent.length;
    await sweepDeliveries(machine, { until: webhooks.clock() + 2 * hourMs });
    const sent = webhooks.queue.sent.slice(before).map(({ message }) => message);
    return sent.filter(({ webhookId }) => webhookId === id);
  }
});
