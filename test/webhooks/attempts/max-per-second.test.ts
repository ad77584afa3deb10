import { beforeEach, describe, expect, it } from 'vitest';
import { timestamp } from '../../../lib/contract/ids.ts';
import type { WebhookPatch } from '../../../lib/contract/webhooks/webhooks.ts';
import type { DeliveryMessage } from '../../../lib/names/messages.ts';
import {
  bookTimes,
  leaseSlowAttempt,
  markWebhookSlow,
  takePermits,
} from '../../../lib/table/webhooks/webhook-attempts.ts';
import { readTarget } from '../../../lib/table/webhooks/webhooks.ts';
import { compareDeliveries } from '../../../lib/webhooks/deliveries/compare-deliveries.ts';
import { sweepDeliveries } from '../../../lib/webhooks/deliveries/sweep.ts';
import { updateWebhook } from '../../../lib/webhooks/webhooks.ts';
import { interceptTable } from '../../table/fixtures/intercepted-table.ts';
import { prepareTestWebhooks, slowAttempts, startTime, type TestWebhooks } from '../test-webhooks.ts';

const createTestWebhooks = await prepareTestWebhooks();
let webhooks: TestWebhooks;
beforeEach(() => {
  webhooks = createTestWebhooks();
});

const edit = (id: string, patch: WebhookPatch) => updateWebhook(webhooks, webhooks.organization, id, patch, () => {});

/** Publishes events, and returns the messages of their deliveries. */
async function publish(count: number): Promise<DeliveryMessage[]> {
  const messages: DeliveryMessage[] = [];
  while (messages.length < count) messages.push(await webhooks.nextMessage());
  return messages;
}

/** Makes attempts one after the other; returns the number of posts, and the messages that are sent again. */
async function attemptEach(messages: readonly DeliveryMessage[]) {
  const before = webhooks.queue.sent.length;
  let posts = 0;
  for (const message of messages) posts += (await webhooks.attempt(message, {}, webhooks.createContainer())).posts;
  return { posts, again: webhooks.queue.sent.slice(before).map(({ message }) => message) };
}

/** Makes an attempt, also from the queue to which its message is sent without a delay; returns the number of posts. */
async function attemptNow(message: DeliveryMessage): Promise<number> {
  const { posts, sent } = await webhooks.attempt(message);
  const [again] = sent;
  return again?.delaySeconds === 0 ? posts + (await attemptNow(again.message)) : posts;
}

/** Takes all permits of some seconds from now on. */
async function takeAll(id: string, seconds: number, maxPerSecond = 1): Promise<void> {
  const block = { count: seconds, maxPerSecond, pacedMs: 1_000 * maxPerSecond, aheadMs: 0, longestMs: 60_000 };
  await takePermits(webhooks, webhooks.organization, id, { ...block, now: webhooks.clock() });
}

/** Takes all leases on the slow attempts of a webhook, for a millisecond. */
async function leaseAll(id: string): Promise<void> {
  const [now, until] = [timestamp(webhooks.clock()), timestamp(webhooks.clock() + 1)];
  for (let number = 0; number < slowAttempts; number++)
    await leaseSlowAttempt(webhooks, webhooks.organization, id, { number, now, until });
}

/** Sweeps some seconds later, and returns the sent messages. */
async function sweepAfter(seconds: number): Promise<DeliveryMessage[]> {
  webhooks.clock.now += seconds * 1_000;
  const before = webhooks.queue.sent.length;
  await sweepDeliveries(webhooks, { until: webhooks.clock() });
  return webhooks.queue.sent.slice(before).map(({ message }) => message);
}

describe('a webhook with a maximum of attempts in a second', () => {
  it('gets its attempts from their own queues, also those that a former version has sent to that of slow webhooks', async () => {
    const message = await webhooks.message({ maxPerSecond: 5 });
    const former = { ...message, slow: true, bookedAt: timestamp(startTime) } as const;
    const { posts, sent } = await webhooks.attempt(former);
    expect([posts, sent]).toMatchObject([0, [{ to: 'deliveries', delaySeconds: 0 }]]);
    expect(sent[0]?.message).not.toHaveProperty('slow');
    expect(await webhooks.attempt(sent[0]?.message as DeliveryMessage)).toMatchObject({ posts: 1, sent: [] });
  });

  it('loses the leases of its attempts that a former version has left', async () => {
    const { id } = await webhooks.register({ maxPerSecond: 5 });
    await leaseAll(id);
    const leases = async () => (await readTarget(webhooks, webhooks.organization, id))?.slowLeases;
    for (const [seconds, left] of [
      [60, slowAttempts],
      [1, 0],
    ] as const) {
      webhooks.clock.now += seconds * 1_000;
      expect(await attemptEach(await publish(1))).toMatchObject({ posts: 1 });
      expect(Object.keys((await leases()) ?? {})).toHaveLength(left);
    }
  });

  it('has its next attempt wait in the process for a permit that comes soon', async () => {
    await webhooks.register({ maxPerSecond: 2 });
    const [first, second] = (await publish(2)) as [DeliveryMessage, DeliveryMessage];
    const pauses: number[] = [];
    const pause = async (milliseconds: number) => {
      pauses.push(milliseconds);
      // Timers fire early, too.
      webhooks.clock.now += pauses.length === 1 ? milliseconds - 1 : milliseconds;
    };
    await webhooks.attempt(first);
    expect(await webhooks.attempt(second, {}, { ...webhooks.createContainer(), pause })).toEqual({
      posts: 1,
      sent: [],
    });
    expect(pauses).toEqual([538, 1]);
  });

  it('has attempts for which there is no permit soon come back one after the other, and later ones after them', async () => {
    const { id } = await webhooks.register({ maxPerSecond: 2 });
    await takeAll(id, 3, 2);
    const waiting = (await attemptEach(await publish(2))).again;
    const times = ['2026-03-01T12:00:03.000Z', '2026-03-01T12:00:03.540Z'];
    expect(waiting.map(({ bookedAt }) => bookedAt)).toEqual(times);
    webhooks.clock.now += 2_500;
    // There is a permit soon, but others have booked times.
    const [later] = await publish(1);
    expect((await attemptEach([later as DeliveryMessage])).again).toMatchObject([
      { bookedAt: '2026-03-01T12:00:04.080Z' },
    ]);
    webhooks.clock.now += 1_040;
    expect(await attemptEach(waiting.slice(0, 1))).toMatchObject({ posts: 1, again: [] });
  });

  it('has the message of an attempt delayed less than a second too short for its booked time', async () => {
    const { id } = await webhooks.register({ maxPerSecond: 1 });
    await takeAll(id, 3);
    const [message] = (await publish(1)) as [DeliveryMessage];
    const { sent } = await webhooks.attempt(message);
    expect(sent).toMatchObject([{ message: { bookedAt: '2026-03-01T12:00:03.000Z' }, delaySeconds: 3 }]);
    webhooks.clock.now += 1;
    const again = await webhooks.attempt(sent[0]?.message as DeliveryMessage);
    expect(again.sent).toMatchObject([{ delaySeconds: 2 }]);
  });

  it('sends the message of an attempt again with its time, if it is received a second or more before it', async () => {
    const message = await webhooks.message({ maxPerSecond: 1 });
    const booked = { ...message, bookedAt: '2026-03-01T12:20:00.000Z' };
    const before = await webhooks.dump();
    const sent = [{ to: 'deliveries', message: booked, delaySeconds: 900 }];
    expect(await webhooks.attempt(booked)).toEqual({ posts: 0, sent });
    expect(await webhooks.dump()).toEqual(before);
  });

  it('makes retries wait for permits too', async () => {
    const { id } = await webhooks.register({ maxPerSecond: 1 });
    const [first] = (await publish(1)) as [DeliveryMessage];
    const retry = await webhooks.retry(first);
    expect(retry).toMatchObject({ attempt: 2 });
    webhooks.clock.now = Date.parse(retry.dueAt);
    await takeAll(id, 2);
    const { posts, sent } = await webhooks.attempt(retry);
    expect([posts, sent]).toMatchObject([0, [{ to: 'firstRetry' }]]);
    webhooks.clock.now += 2_000;
    expect(await attemptEach([sent[0]?.message as DeliveryMessage])).toMatchObject({ posts: 1 });
  });

  it.each([
    ['that comes too late for its permits', 100],
    ['whose clock is set back while it waits', -3_600_000],
  ])('is sent nothing by a worker %s', async (_, step) => {
    const { id } = await webhooks.register({ maxPerSecond: 50 });
    const [first, message] = (await publish(2)) as [DeliveryMessage, DeliveryMessage];
    await webhooks.attempt(first);
    const container = webhooks.createContainer();
    const table = interceptTable(container.table, async (write, { input }) => {
      const answer = await write();
      if (JSON.stringify(input).includes('permittedUntil = ')) webhooks.clock.now += step;
      return answer;
    });
    expect(await webhooks.attempt(message, {}, { ...container, table })).toMatchObject({ posts: 0, sent: [{}] });
    expect((await readTarget(webhooks, webhooks.organization, id))?.permittedUntil).toBeDefined();
    webhooks.clock.now += 2_000;
    expect(await webhooks.attempt(message)).toMatchObject({ posts: 1 });
  });

  it('that is also slow has no more attempts at the same time than another slow one', async () => {
    await webhooks.register({ maxPerSecond: 50 });
    const messages = await publish(slowAttempts + 2);
    expect(await webhooks.attempt(messages.pop() as DeliveryMessage, { durationMs: 3_000 })).toMatchObject({
      posts: 1,
    });
    const running: Awaited<ReturnType<TestWebhooks['beginAttempt']>>[] = [];
    for (const message of messages) {
      webhooks.clock.now += 1_100;
      running.push(await webhooks.beginAttempt({ ...message, slow: true }));
    }
    expect(running.flatMap(({ posts }) => posts)).toHaveLength(slowAttempts);
    await Promise.all(running.map(({ letGo }) => letGo()));
  });

  it('that is also slow has all leases free while its attempts wait for permits', async () => {
    const { id } = await webhooks.register({ maxPerSecond: 1 });
    const [message] = (await publish(1)) as [DeliveryMessage];
    await markWebhookSlow(webhooks, webhooks.organization, id);
    await takeAll(id, 2);
    const { posts, again } = await attemptEach([{ ...message, slow: true }]);
    expect([posts, again]).toMatchObject([0, [{ slow: true, bookedAt: '2026-03-01T12:00:02.000Z' }]]);
    expect((await readTarget(webhooks, webhooks.organization, id))?.slowLeases).toEqual({});
  });

  it('has no late work and no lost deliveries while its attempts wait', async () => {
    webhooks = (await prepareTestWebhooks())();
    await webhooks.register({ maxPerSecond: 1 });
    let message = await webhooks.nextMessage();
    while (!message.eventId?.endsWith('0')) message = await webhooks.nextMessage();
    webhooks.clock.now += 20 * 60_000;
    const { counts, waits } = await sweepDeliveries(webhooks, { until: webhooks.clock() });
    expect([counts.WorkLost, waits.DeliveriesLate]).toEqual([undefined, 0]);
    const range = { from: startTime, to: webhooks.clock(), now: webhooks.clock() };
    expect((await compareDeliveries(webhooks, webhooks.organization, range)).deliveries).toBeGreaterThan(0);
  });
});

describe('an attempt that has booked a time', () => {
  let id: string;
  /** The messages of attempts that have booked a time each, the first one a retry. */
  let booked: [DeliveryMessage, DeliveryMessage];

  // A sweep is over the whole table, so each test has one of its own.
  beforeEach(async () => {
    webhooks = (await prepareTestWebhooks())();
    ({ id } = await webhooks.register());
    const retry = await webhooks.retry(await webhooks.nextMessage());
    webhooks.clock.now = Date.parse(retry.dueAt);
    await edit(id, { maxPerSecond: 1 });
    await takeAll(id, 6);
    booked = (await attemptEach([retry, ...(await publish(1))])).again as typeof booked;
    expect(booked).toMatchObject([{ attempt: 2 }, { attempt: 1 }]);
  });

  /** Returns the seconds from now until the end of all booked times. */
  async function bookedSeconds(): Promise<number> {
    const { bookedUntil = 0 } = (await readTarget(webhooks, webhooks.organization, id)) ?? {};
    return Math.max(0, bookedUntil - webhooks.clock()) / 1_000;
  }

  /** Makes the booked attempts at their times. */
  async function makeBooked(): Promise<void> {
    for (const message of booked) {
      webhooks.clock.now = Date.parse(message.bookedAt as string);
      expect(await webhooks.attempt(message)).toMatchObject({ posts: 1 });
    }
  }

  it('keeps it when copies of its message arrive, and they book nothing', async () => {
    const seconds = await bookedSeconds();
    const copies = booked.map(({ bookedAt, paceVersion, parked, ...copy }) => copy);
    expect((await attemptEach(copies)).again).toEqual(booked);
    expect((await attemptEach(booked)).again).toEqual(booked);
    expect(await bookedSeconds()).toBe(seconds);
  });

  it('is not taken for lost while it waits, but a minute after its time', async () => {
    // Many others have booked before them.
    await bookTimes(webhooks, webhooks.organization, id, { count: 1, earliest: 0, gapMs: 3_600_000, paceVersion: 2 });
    const late = (await attemptEach(await publish(1))).again[0] as DeliveryMessage;
    const lateAt = Date.parse(late.bookedAt as string);
    await makeBooked();
    expect(await sweepAfter((lateAt - webhooks.clock()) / 1_000 + 55)).toEqual([]);
    const range = { from: startTime, to: webhooks.clock(), now: webhooks.clock() };
    expect((await compareDeliveries(webhooks, webhooks.organization, range)).lost).toEqual([]);
    expect(await sweepAfter(10)).toEqual([late]);
  });

  it.each([
    [0, 'at its time'],
    [8 * 3_600, 'eight hours after it, as after a step of the clock'],
  ])('books again if it finds no permit %d s after it: %s', async (seconds) => {
    webhooks.clock.now = Date.parse(booked[1].bookedAt as string) + seconds * 1_000;
    await takeAll(id, 6);
    const { again } = await attemptEach([booked[1]]);
    const bookedAt = timestamp(webhooks.clock() + 6_000);
    expect(again).toEqual([{ ...booked[1], bookedAt }]);
    // The message from before is a copy.
    expect((await attemptEach([booked[1]])).again).toEqual(again);
    expect(await bookedSeconds()).toBe(7.08);
    // The item of the attempt is due a minute after the new time.
    expect(await sweepAfter(60)).not.toContainEqual(expect.objectContaining({ bookedAt }));
    const { slow, ...sent } = again[0] as DeliveryMessage;
    expect(await sweepAfter(7)).toContainEqual(sent);
  });

  it('leaves nothing behind when it is made', async () => {
    await makeBooked();
    expect(Object.keys(await webhooks.dump()).filter((key) => key.includes(' P#'))).toEqual([]);
    expect(await sweepAfter(120)).toEqual([]);
  });

  it.each([
    ['a higher maximum', [{ maxPerSecond: 1_000 }]],
    ['no maximum', [{ maxPerSecond: null }]],
    ['a pause', [{ active: false }, { active: true }]],
  ] satisfies [string, WebhookPatch[]][])('loses it by %s, is sent again, and is made once', async (_, patches) => {
    await bookTimes(webhooks, webhooks.organization, id, { count: 1, earliest: 0, gapMs: 3_600_000, paceVersion: 2 });
    for (const patch of patches) await edit(id, patch);
    expect(await bookedSeconds()).toBe(0);
    webhooks.clock.now += 6_000;
    // A new event waits for nothing.
    expect(await attemptNow(await webhooks.nextMessage())).toBe(1);
    const sent = await sweepAfter(1.1);
    expect(sent.map(({ bookedAt, deliveryId }) => [bookedAt, deliveryId]).toSorted()).toEqual(
      booked.map(({ deliveryId }) => [undefined, deliveryId]).toSorted(),
    );
    expect(await sweepAfter(1)).toEqual([]);
    let posts = 0;
    // The messages with the old times are still in the queue.
    for (const message of [...sent, ...booked]) {
      posts += await attemptNow(message);
      webhooks.clock.now += 1_100;
    }
    expect(posts).toBe(2);
  });

  it('books once more after a lower maximum, and behind no time from before', async () => {
    await edit(id, { maxPerSecond: 2 });
    await attemptEach(await publish(2));
    await edit(id, { maxPerSecond: 1 });
    const { again } = await attemptEach(booked);
    expect(again.map(({ bookedAt }) => Date.parse(bookedAt ?? '') - webhooks.clock())).toEqual([6_000, 7_080]);
    expect((await attemptEach(booked)).again).toEqual(again);
    expect(await bookedSeconds()).toBe(8.16);
  });

  it.each(['permittedUntil = ', 'bookedUntil = ', '"sk":"P#'])(
    'is none if the maximum changes just before the write of %s',
    async (write) => {
      const container = webhooks.createContainer();
      let changed = false;
      const table = interceptTable(container.table, async (send, { input }) => {
        const isWrite = JSON.stringify(input).includes(write) && !('RequestItems' in input);
        if (isWrite && !changed) {
          changed = true;
          await edit(id, { maxPerSecond: 50 });
          await sweepAfter(0);
        }
        return send();
      });
      const [message] = (await publish(1)) as [DeliveryMessage];
      webhooks.clock.now += 95_000;
      if (write !== 'permittedUntil = ') await takeAll(id, 6);
      const again = expect.not.objectContaining({ bookedAt: expect.anything() });
      const before = webhooks.queue.sent.length;
      await webhooks.attempt(message, {}, { ...container, table });
      const own = webhooks.queue.sent.slice(before).filter((one) => one.message.deliveryId === message.deliveryId);
      expect(own).toMatchObject([{ to: 'deliveries', message: again, delaySeconds: 1 }]);
      expect(changed).toBe(true);
      webhooks.clock.now += 6_000;
      expect(await webhooks.attempt(own[0]?.message as DeliveryMessage)).toMatchObject({ posts: 1 });
    },
  );

  it('is sent again by its recovery after a pause, and by nothing else', async () => {
    const recovered = { ...booked[1], scheduleStart: 1 };
    await edit(id, { active: false });
    expect(await webhooks.attempt(recovered)).toEqual({ posts: 0, sent: [] });
    await edit(id, { active: true });
    expect((await sweepAfter(5)).map(({ deliveryId }) => deliveryId)).toEqual([booked[0].deliveryId]);
  });
});

describe('an attempt to a slow receiver that waits for a lease after its booked time', () => {
  let id: string;
  let booked: DeliveryMessage;

  beforeEach(async () => {
    webhooks = (await prepareTestWebhooks())();
    ({ id } = await webhooks.register({ maxPerSecond: 1 }));
    await markWebhookSlow(webhooks, webhooks.organization, id);
    await takeAll(id, 6);
    const [message] = (await publish(1)) as [DeliveryMessage];
    booked = (await attemptEach([{ ...message, slow: true }])).again[0] as DeliveryMessage;
    webhooks.clock.now = Date.parse(booked.bookedAt as string);
  });

  /** Tries the attempt some seconds later, while no lease is free; returns its next message. */
  async function tryAfter(seconds: number, message: DeliveryMessage): Promise<DeliveryMessage> {
    webhooks.clock.now += seconds * 1_000;
    await leaseAll(id);
    const { posts, again } = await attemptEach([message]);
    expect([posts, again.length]).toEqual([0, 1]);
    return again[0] as DeliveryMessage;
  }

  it('is not sent again while it tries, keeps its time, and is sent again ten minutes after its last try', async () => {
    let again = booked;
    for (const seconds of [25, 30, 200, 300]) {
      again = await tryAfter(seconds, again);
      expect(await sweepAfter(0)).toEqual([]);
    }
    expect(again).toEqual(booked);
    const { slow, ...message } = booked;
    expect(await sweepAfter(15 * 60)).toEqual([message]);
  });

  it.each([
    ['0000', 50],
    ['ZZZZ', 26],
  ])('for 200 s, and whose delivery id ends in %s, tries again after %i s', async (end, delaySeconds) => {
    await tryAfter(200, { ...booked, deliveryId: booked.deliveryId.slice(0, -4) + end });
    expect(webhooks.queue.sent.at(-1)).toMatchObject({ delaySeconds });
  });

  it('is sent again soon after a change of the maximum, and is looked for a minute later', async () => {
    const again = await tryAfter(100, booked);
    await edit(id, { maxPerSecond: 2 });
    const { slow, bookedAt, ...message } = again;
    expect(await sweepAfter(1)).toEqual([message]);
    expect(await sweepAfter(50)).toEqual([]);
    expect(await sweepAfter(11)).toEqual([message]);
    await tryAfter(100, { ...message, slow: true });
    expect(await sweepAfter(5)).toEqual([]);
  });

  it('waits without its time when there is no maximum any more', async () => {
    await edit(id, { maxPerSecond: null });
    await sweepAfter(1);
    const { bookedAt, paceVersion, ...message } = booked;
    expect(await tryAfter(100, booked)).toEqual(message);
    expect(await sweepAfter(9 * 60)).toEqual([]);
  });

  it('leaves nothing behind when it is made', async () => {
    const again = await tryAfter(100, booked);
    webhooks.clock.now += 1_100;
    expect(await webhooks.attempt(again)).toMatchObject({ posts: 1, sent: [] });
    expect(Object.keys(await webhooks.dump()).filter((key) => key.includes(' P#'))).toEqual([]);
    expect(await sweepAfter(20 * 60)).toEqual([]);
  });
});

describe('a change of the maximum', () => {
  it('applies to waiting attempts, and without one the attempts need no permit', async () => {
    const { id } = await webhooks.register();
    const messages = (await publish(3)) as [DeliveryMessage, DeliveryMessage, DeliveryMessage];
    await edit(id, { maxPerSecond: 1 });
    await takeAll(id, 3);
    expect(await attemptEach(messages)).toMatchObject({ posts: 0 });
    await edit(id, { maxPerSecond: null });
    expect(await attemptEach(messages)).toEqual({ posts: 3, again: [] });
  });

  it.each([
    ['a first attempt', 'deliveries', {}],
    ['a retry', 'firstRetry', { attempt: 2 }],
    ['a redelivery', 'deliveries', { attempt: 2, redelivery: true }],
    ['the first attempt of a recovery', 'deliveries', { attempt: 3, scheduleStart: 3 }],
    ['a parked attempt', 'deliveries', { parked: true }],
  ] satisfies [string, string, Partial<DeliveryMessage>][])(
    'to none sends %s that a former version has sent to the queue of slow webhooks to its own queue, without its time',
    async (_, to, fields) => {
      const { id } = await webhooks.register({ maxPerSecond: 1 });
      const message = { ...(await webhooks.nextMessage()), ...fields };
      await edit(id, { maxPerSecond: null });
      webhooks.clock.now += 1_000;
      const booked = { ...message, slow: true, bookedAt: timestamp(webhooks.clock() + 600_000) } as const;
      expect(await webhooks.attempt(booked)).toEqual({ posts: 0, sent: [{ to, message, delaySeconds: 0 }] });
    },
  );
});
