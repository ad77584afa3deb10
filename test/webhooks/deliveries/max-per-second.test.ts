import { beforeEach, describe, expect, it } from 'vitest';
import { timestamp } from '../../../lib/contract/ids.ts';
import type { WebhookPatch } from '../../../lib/contract/webhooks.ts';
import type { DeliveryMessage } from '../../../lib/deployment/messages.ts';
import { bookAttempt, leaseSlowAttempt, markWebhookSlow } from '../../../lib/table/deliveries/webhook-attempts.ts';
import { readTarget, readWebhook } from '../../../lib/table/deliveries/webhooks.ts';
import { compareDeliveries } from '../../../lib/webhooks/deliveries/compare-deliveries.ts';
import { sweepDeliveries } from '../../../lib/webhooks/deliveries/sweep.ts';
import { updateWebhook } from '../../../lib/webhooks/webhooks.ts';
import { interceptTable } from '../../table/fixtures/intercepted-table.ts';
import { notingSender, prepareTestWebhooks, slowAttempts, startTime, type TestWebhooks } from '../test-webhooks.ts';

const createTestWebhooks = await prepareTestWebhooks();
let webhooks: TestWebhooks;
beforeEach(() => {
  webhooks = createTestWebhooks();
});

const edit = (id: string, patch: WebhookPatch) => updateWebhook(webhooks, webhooks.organization, id, patch, () => {});

/** Publishes events, and returns the messages of their deliveries as they are in the queue of slow webhooks. */
async function queuedMessages(count: number): Promise<DeliveryMessage[]> {
  const messages: DeliveryMessage[] = [];
  while (messages.length < count) messages.push({ ...(await webhooks.nextMessage()), slow: true });
  return messages;
}

/** Makes attempts at the same time; returns the number of posts, and the messages that are sent again. */
async function attemptAll(messages: readonly DeliveryMessage[]) {
  const before = webhooks.queue.sent.length;
  const { posts, send } = notingSender();
  await Promise.all(messages.map((message) => webhooks.deliver(message, send, webhooks.createContainer())));
  return { posts: posts.length, again: webhooks.queue.sent.slice(before).map(({ message }) => message) };
}

/** Makes an attempt, also from the queue to which its message is sent without a delay; returns the number of posts. */
async function attemptNow(message: DeliveryMessage): Promise<number> {
  const { posts, sent } = await webhooks.attempt(message);
  const [again] = sent;
  return again?.delaySeconds === 0 ? posts + (await attemptNow(again.message)) : posts;
}

describe('a webhook with a maximum of attempts in a second', () => {
  it('gets its attempts from the queue of slow webhooks', async () => {
    const message = await webhooks.message({ maxPerSecond: 5 });
    const sent = [{ to: 'slowDeliveries', message: { ...message, slow: true }, delaySeconds: 0 }];
    expect(await webhooks.attempt(message)).toEqual({ posts: 0, sent });
    expect(await webhooks.attempt({ ...message, slow: true })).toMatchObject({ posts: 1, sent: [] });
  });

  it.each([1, 3, 10])(
    'of %i never gets more of them, over all functions, and gets all events',
    async (maxPerSecond) => {
      await webhooks.register({ maxPerSecond });
      let waiting = await queuedMessages(maxPerSecond * 3 + 1);
      const began: number[] = [];
      while (waiting.length > 0) {
        const { posts, again } = await attemptAll(waiting);
        began.push(...Array(posts).fill(webhooks.clock()));
        waiting = again;
        webhooks.clock.now += 250;
      }
      expect(began).toHaveLength(maxPerSecond * 3 + 1);
      for (const at of began)
        expect(began.filter((other) => other >= at && other < at + 1_000).length).toBeLessThanOrEqual(maxPerSecond);
    },
  );

  it('counts an attempt from the beginning of its request, however long it lasts', async () => {
    await webhooks.register({ maxPerSecond: 1 });
    const [first, second] = (await queuedMessages(2)) as [DeliveryMessage, DeliveryMessage];
    const { letGo } = await webhooks.beginAttempt(first);
    webhooks.clock.now += 600;
    await letGo();
    const booked = { ...second, bookedAt: '2026-03-01T12:00:00.000Z' };
    webhooks.clock.now += 499;
    expect(await webhooks.attempt(booked)).toMatchObject({ posts: 0 });
    webhooks.clock.now += 1;
    expect(await webhooks.attempt(booked)).toMatchObject({ posts: 1 });
  });

  it('receives waiting attempts one after the other, and later ones after them', async () => {
    await webhooks.register({ maxPerSecond: 2 });
    const [first, second, third, fourth, fifth] = (await queuedMessages(5)) as [DeliveryMessage] & DeliveryMessage[];
    for (const message of [first, second])
      expect(await webhooks.attempt(message as DeliveryMessage)).toMatchObject({ posts: 1 });
    const waits: DeliveryMessage[] = [];
    for (const message of [third, fourth])
      waits.push((await attemptAll([message as DeliveryMessage])).again[0] as DeliveryMessage);
    expect(waits.map(({ bookedAt }) => bookedAt)).toEqual(['2026-03-01T12:00:01.100Z', '2026-03-01T12:00:01.700Z']);
    webhooks.clock.now += 1_100;
    // The leases are free, but others have booked them.
    expect((await attemptAll([fifth as DeliveryMessage])).again).toMatchObject([
      { bookedAt: '2026-03-01T12:00:02.300Z' },
    ]);
    webhooks.clock.now += 600;
    for (const message of waits) expect(await webhooks.attempt(message)).toMatchObject({ posts: 1 });
  });

  it('receives an attempt at the time that it has booked, for which its message is delayed less than a second too short', async () => {
    await webhooks.register({ maxPerSecond: 1 });
    const [first, second] = (await queuedMessages(2)) as [DeliveryMessage, DeliveryMessage];
    await webhooks.attempt(first);
    const { sent } = await webhooks.attempt(second);
    expect(sent).toMatchObject([{ message: { bookedAt: '2026-03-01T12:00:01.100Z' }, delaySeconds: 1 }]);
    webhooks.clock.now += 1_000;
    const pause = async (milliseconds: number) => {
      webhooks.clock.now += milliseconds;
    };
    const again = await webhooks.attempt(
      sent[0]?.message as DeliveryMessage,
      {},
      { ...webhooks.createContainer(), pause },
    );
    expect(again).toEqual({ posts: 1, sent: [] });
    expect(webhooks.clock()).toBe(Date.parse('2026-03-01T12:00:01.100Z'));
  });

  it('sends the message of an attempt again with its time, if it is received a second or more before it', async () => {
    await webhooks.register({ maxPerSecond: 1 });
    const [message] = (await queuedMessages(1)) as [DeliveryMessage];
    const booked = { ...message, bookedAt: '2026-03-01T12:20:00.000Z' };
    const before = await webhooks.dump();
    const sent = [{ to: 'slowDeliveries', message: booked, delaySeconds: 900 }];
    expect(await webhooks.attempt(booked)).toEqual({ posts: 0, sent });
    expect(await webhooks.dump()).toEqual(before);
  });

  it('makes retries wait for a lease too', async () => {
    await webhooks.register({ maxPerSecond: 1 });
    const [first, second] = (await queuedMessages(2)) as [DeliveryMessage, DeliveryMessage];
    const retry = await webhooks.retry(first);
    expect(retry).toMatchObject({ attempt: 2 });
    webhooks.clock.now = Date.parse(retry.dueAt);
    expect(await webhooks.attempt(retry)).toMatchObject({ posts: 0, sent: [{ to: 'slowDeliveries' }] });
    expect(await attemptAll([{ ...retry, slow: true }, second])).toMatchObject({ posts: 1 });
  });

  it('is sent nothing by a worker that has waited too long since it took its lease', async () => {
    await webhooks.register({ maxPerSecond: 1 });
    const [message] = (await queuedMessages(1)) as [DeliveryMessage];
    const container = webhooks.createContainer();
    const table = interceptTable(container.table, async (write, { input }) => {
      const answer = await write();
      if (JSON.stringify(input).includes('slowLease0')) webhooks.clock.now += 5_001;
      return answer;
    });
    const again = { posts: 0, sent: [{ to: 'slowDeliveries', message, delaySeconds: 1 }] };
    expect(await webhooks.attempt(message, {}, { ...container, table })).toEqual(again);
    // The lease of that worker has not expired.
    expect(await webhooks.attempt(message)).toMatchObject({ posts: 0 });
    webhooks.clock.now += 15_000;
    expect(await webhooks.attempt(message)).toMatchObject({ posts: 1 });
  });

  it('is sent nothing by a worker whose lease has the time of a clock that was set back in the meantime', async () => {
    await webhooks.register({ maxPerSecond: 1 });
    const [message, other] = (await queuedMessages(2)) as [DeliveryMessage, DeliveryMessage];
    const container = webhooks.createContainer();
    const table = interceptTable(container.table, async (write, { input }) => {
      const answer = await write();
      if (JSON.stringify(input).includes('slowLease0')) webhooks.clock.now -= 3_600_000;
      return answer;
    });
    const again = { posts: 0, sent: [{ to: 'slowDeliveries', message, delaySeconds: 1 }] };
    expect(await webhooks.attempt(message, {}, { ...container, table })).toEqual(again);
    // The lease seems free to others.
    expect(await webhooks.attempt(other)).toMatchObject({ posts: 1 });
  });

  it('keeps the lease of another worker that took it when it had expired', async () => {
    await webhooks.register({ maxPerSecond: 1 });
    const [first, second, third] = (await queuedMessages(3)) as [DeliveryMessage, DeliveryMessage, DeliveryMessage];
    const one = await webhooks.beginAttempt(first, { durationMs: 9_000 });
    webhooks.clock.now += 20_000;
    const other = await webhooks.beginAttempt(second);
    await one.letGo();
    expect(await webhooks.attempt(third)).toMatchObject({ posts: 0 });
    expect((await readWebhook(webhooks, webhooks.organization, first.webhookId))?.slow).toBe(true);
    await other.letGo();
  });

  it('that is also slow has no more attempts at the same time than another slow one', async () => {
    await webhooks.register({ maxPerSecond: 50 });
    const messages = await queuedMessages(slowAttempts + 2);
    expect(await webhooks.attempt(messages.pop() as DeliveryMessage, { durationMs: 3_000 })).toMatchObject({
      posts: 1,
    });
    webhooks.clock.now += 1_100;
    const running: Awaited<ReturnType<TestWebhooks['beginAttempt']>>[] = [];
    for (const message of messages) running.push(await webhooks.beginAttempt(message));
    expect(running.flatMap(({ posts }) => posts)).toHaveLength(slowAttempts);
    await Promise.all(running.map(({ letGo }) => letGo()));
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
    const [made, message] = (await queuedMessages(2)) as [DeliveryMessage, DeliveryMessage];
    await webhooks.attempt(made);
    const { again } = await attemptAll([{ ...retry, slow: true }]);
    booked = [...again, ...(await attemptAll([message])).again] as typeof booked;
    expect(booked).toMatchObject([{ attempt: 2 }, { attempt: 1 }]);
  });

  /** Makes attempts one after the other; returns the messages that are sent again. */
  async function attemptEach(messages: readonly DeliveryMessage[]): Promise<DeliveryMessage[]> {
    const sent: DeliveryMessage[] = [];
    for (const message of messages) sent.push(...(await attemptAll([message])).again);
    return sent;
  }

  /** Returns the seconds from now until the end of all booked times. */
  async function bookedSeconds(): Promise<number> {
    const { bookedUntil = 0 } = (await readTarget(webhooks, webhooks.organization, id)) ?? {};
    return Math.max(0, bookedUntil - webhooks.clock()) / 1_000;
  }

  /** Sweeps some seconds later, and returns the sent messages. */
  async function sweepAfter(seconds: number): Promise<DeliveryMessage[]> {
    webhooks.clock.now += seconds * 1_000;
    const before = webhooks.queue.sent.length;
    await sweepDeliveries(webhooks, { until: webhooks.clock() });
    return webhooks.queue.sent.slice(before).map(({ message }) => message);
  }

  it('keeps it when copies of its message arrive, and they book nothing', async () => {
    const seconds = await bookedSeconds();
    const copies = booked.map(({ bookedAt: _, paceVersion: __, parked: ___, ...copy }) => copy);
    expect(await attemptEach(copies)).toEqual(booked);
    expect(await attemptEach(booked)).toEqual(booked);
    expect(await bookedSeconds()).toBe(seconds);
  });

  it('is not taken for lost while it waits, but a minute after its time', async () => {
    // Many others have booked before them.
    await bookAttempt(webhooks, webhooks.organization, id, { earliest: 0, gapMs: 3_600_000, paceVersion: 2 });
    const late = (await attemptAll(await queuedMessages(1))).again[0] as DeliveryMessage;
    const waitMs = Date.parse(late.bookedAt as string) - webhooks.clock();
    for (const message of booked) {
      webhooks.clock.now += 1_200;
      expect(await webhooks.attempt(message)).toMatchObject({ posts: 1 });
    }
    expect(await sweepAfter(waitMs / 1_000 + 55)).toEqual([]);
    const range = { from: startTime, to: webhooks.clock(), now: webhooks.clock() };
    expect((await compareDeliveries(webhooks, webhooks.organization, range)).lost).toEqual([]);
    const { slow: _, ...message } = late;
    expect(await sweepAfter(10)).toEqual([message]);
  });

  it('tries again soon, and books nothing, if it finds no free lease at its time', async () => {
    webhooks.clock.now = Date.parse(booked[1].bookedAt as string);
    expect(await webhooks.attempt(booked[0])).toMatchObject({ posts: 1 });
    const seconds = await bookedSeconds();
    const sent = [{ message: booked[1], delaySeconds: 1 }];
    expect(await webhooks.attempt(booked[1])).toMatchObject({ posts: 0, sent });
    expect(await bookedSeconds()).toBe(seconds);
  });

  it.each([
    [25, 'tries again', false],
    [25.001, 'books again', true],
    [8 * 3_600, 'books again', true],
  ])('finds no free lease %d s after it, as after a step of the clock, and %s', async (seconds, _, isMissed) => {
    webhooks.clock.now = Date.parse(booked[1].bookedAt as string) + seconds * 1_000;
    const [now, until] = [timestamp(webhooks.clock()), timestamp(webhooks.clock() + 1)];
    await leaseSlowAttempt(webhooks, webhooks.organization, id, { number: 0, now, until });
    const [again] = (await attemptAll([booked[1]])).again;
    expect(again).toEqual(isMissed ? { ...booked[1], bookedAt: timestamp(webhooks.clock() + 1_100) } : booked[1]);
    expect(webhooks.queue.sent.at(-1)).toMatchObject({ delaySeconds: 1 });
    // The message from before is a copy.
    expect((await attemptAll([booked[1]])).again).toEqual([again]);
    expect(await bookedSeconds()).toBe(isMissed ? 2.3 : 0);
  });

  it('is not sent again before a minute after the time that it has booked again', async () => {
    const [, message] = booked;
    webhooks.clock.now += 8 * 3_600_000;
    const [now, until] = [timestamp(webhooks.clock()), timestamp(webhooks.clock() + 1)];
    await leaseSlowAttempt(webhooks, webhooks.organization, id, { number: 0, now, until });
    const [again] = (await attemptEach(booked)).slice(1);
    expect(await sweepAfter(62)).not.toContainEqual(expect.objectContaining({ deliveryId: message.deliveryId }));
    const { slow: _, ...sent } = again as DeliveryMessage;
    expect(await sweepAfter(1)).toContainEqual(sent);
  });

  it('leaves nothing behind when it is made', async () => {
    for (const message of booked) {
      webhooks.clock.now += 1_200;
      expect(await webhooks.attempt(message)).toMatchObject({ posts: 1 });
    }
    expect(Object.keys(await webhooks.dump()).filter((key) => key.includes(' P#'))).toEqual([]);
    expect(await sweepAfter(120)).toEqual([]);
  });

  it.each([
    ['a higher maximum', [{ maxPerSecond: 50 }]],
    ['no maximum', [{ maxPerSecond: null }]],
    ['a pause', [{ active: false }, { active: true }]],
  ] satisfies [string, WebhookPatch[]][])('loses it by %s, is sent again, and is made once', async (_, patches) => {
    for (const patch of patches) await edit(id, patch);
    expect(await bookedSeconds()).toBe(0);
    webhooks.clock.now += 1_100;
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
    expect(await attemptAll(await queuedMessages(2))).toMatchObject({ posts: 1 });
    await edit(id, { maxPerSecond: 1 });
    const again = await attemptEach(booked);
    expect(again.map(({ bookedAt }) => Date.parse(bookedAt ?? '') - webhooks.clock())).toEqual([1_100, 2_300]);
    expect(await attemptEach(booked)).toEqual(again);
    expect(await bookedSeconds()).toBe(3.5);
  });

  it.each(['bookedUntil = ', '"sk":"P#'])(
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
      const [message] = (await queuedMessages(1)) as [DeliveryMessage];
      // However long it has waited, it tries again in a second.
      webhooks.clock.now += 95_000;
      const [now, until] = [timestamp(webhooks.clock()), timestamp(webhooks.clock() + 1)];
      await leaseSlowAttempt(webhooks, webhooks.organization, id, { number: 0, now, until });
      const again = expect.not.objectContaining({ bookedAt: expect.anything() });
      const sent = [{ to: 'slowDeliveries', message: again, delaySeconds: 1 }];
      const before = webhooks.queue.sent.length;
      await webhooks.attempt(message, {}, { ...container, table });
      const own = webhooks.queue.sent.slice(before).filter((one) => one.message.deliveryId === message.deliveryId);
      expect(own).toMatchObject(sent);
      expect(JSON.stringify(await webhooks.dump())).not.toContain('waitsUntil');
      webhooks.clock.now += 1_100;
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

describe('an attempt to a slow receiver that waits after its booked time', () => {
  let id: string;
  let booked: DeliveryMessage;

  beforeEach(async () => {
    webhooks = (await prepareTestWebhooks())();
    ({ id } = await webhooks.register({ maxPerSecond: 1 }));
    await markWebhookSlow(webhooks, webhooks.organization, id);
    const [made, message] = (await queuedMessages(2)) as [DeliveryMessage, DeliveryMessage];
    await webhooks.attempt(made, { durationMs: 3_000 });
    booked = (await attemptAll([message])).again[0] as DeliveryMessage;
    webhooks.clock.now = Date.parse(booked.bookedAt as string);
  });

  /** Tries the attempt some seconds later, while no lease is free; returns its next message. */
  async function tryAfter(seconds: number, message: DeliveryMessage): Promise<DeliveryMessage> {
    webhooks.clock.now += seconds * 1_000;
    const [now, until] = [timestamp(webhooks.clock()), timestamp(webhooks.clock() + 1)];
    for (const number of [0, 1]) await leaseSlowAttempt(webhooks, webhooks.organization, id, { number, now, until });
    const { posts, again } = await attemptAll([message]);
    expect([posts, again.length]).toEqual([0, 1]);
    return again[0] as DeliveryMessage;
  }

  /** Sweeps some seconds later, and returns the sent messages. */
  async function sweepAfter(seconds: number): Promise<DeliveryMessage[]> {
    webhooks.clock.now += seconds * 1_000;
    const before = webhooks.queue.sent.length;
    await sweepDeliveries(webhooks, { until: webhooks.clock() });
    return webhooks.queue.sent.slice(before).map(({ message }) => message);
  }

  it('is not sent again while it tries, keeps its time, and is sent again ten minutes after its last try', async () => {
    let again = booked;
    for (const seconds of [25, 30, 200, 300]) {
      again = await tryAfter(seconds, again);
      expect(await sweepAfter(0)).toEqual([]);
    }
    expect(again).toEqual(booked);
    // A copy of its message uses the booked time.
    const { bookedAt: _, paceVersion: __, parked: ___, ...copy } = booked;
    expect(await tryAfter(0, copy)).toEqual(booked);
    const { slow: ____, ...message } = booked;
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
    const { slow: _, bookedAt: __, ...message } = again;
    expect(await sweepAfter(1)).toEqual([message]);
    expect(await sweepAfter(50)).toEqual([]);
    expect(await sweepAfter(11)).toEqual([message]);
    await tryAfter(100, { ...message, slow: true });
    expect(await sweepAfter(5)).toEqual([]);
  });

  it('waits without its time when there is no maximum any more', async () => {
    await edit(id, { maxPerSecond: null });
    await sweepAfter(1);
    const [now, until] = [timestamp(webhooks.clock()), timestamp(webhooks.clock() + 110_000)];
    await leaseSlowAttempt(webhooks, webhooks.organization, id, { number: 2, now, until });
    const { bookedAt: _, paceVersion: __, ...message } = booked;
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
  it('applies to waiting attempts, and without one the attempts need no lease', async () => {
    const { id } = await webhooks.register();
    const [first, second] = (await queuedMessages(2)) as [DeliveryMessage, DeliveryMessage];
    await edit(id, { maxPerSecond: 1 });
    expect(await webhooks.attempt(first)).toMatchObject({ posts: 1 });
    expect(await webhooks.attempt(second)).toMatchObject({ posts: 0 });
    await edit(id, { maxPerSecond: null });
    const { slow: _, ...message } = second;
    expect(await webhooks.attempt(message)).toMatchObject({ posts: 1, sent: [] });
  });

  it.each([
    ['a first attempt', 'deliveries', {}],
    ['a retry', 'firstRetry', { attempt: 2 }],
    ['a redelivery', 'deliveries', { attempt: 2, redelivery: true }],
    ['the first attempt of a recovery', 'deliveries', { attempt: 3, scheduleStart: 3 }],
    ['a parked attempt', 'deliveries', { parked: true }],
  ] satisfies [string, string, Partial<DeliveryMessage>][])(
    'to none sends %s that waits in the queue of slow webhooks to its own queue',
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
