import { beforeEach, describe, expect, it } from 'vitest';
import type { Context } from '../../../lib/context/context.ts';
import { timestamp } from '../../../lib/contract/ids.ts';
import type { DeliveryMessage } from '../../../lib/names/messages.ts';
import { leaseSlowAttempt, markWebhookSlow } from '../../../lib/table/webhooks/webhook-attempts.ts';
import { readTarget } from '../../../lib/table/webhooks/webhooks.ts';
import { compareDeliveries } from '../../../lib/webhooks/deliveries/compare-deliveries.ts';
import { sweepDeliveries } from '../../../lib/webhooks/deliveries/sweep.ts';
import { redeliverDelivery } from '../../../lib/webhooks/redelivery.ts';
import { deleteWebhook, updateWebhook } from '../../../lib/webhooks/webhooks.ts';
import { interceptTable } from '../../table/fixtures/intercepted-table.ts';
import { failed, prepareTestWebhooks, slowAttempts, startTime, type TestWebhooks } from '../test-webhooks.ts';

const createTestWebhooks = await prepareTestWebhooks();
let webhooks: TestWebhooks;
beforeEach(() => {
  webhooks = createTestWebhooks();
});

const slowFailure = { ...failed, durationMs: 9_000 };
const slowQueue = { posts: 0, sent: [{ to: 'slowDeliveries', message: { slow: true } }] };

async function createMessages(count: number): Promise<DeliveryMessage[]> {
  const messages = [await webhooks.message()];
  while (messages.length < count) messages.push(await webhooks.nextMessage());
  return messages;
}

const readWebhook = ({ webhookId }: DeliveryMessage) => readTarget(webhooks, webhooks.organization, webhookId);

/** Marks the webhook of a message as slow, and returns the message as it is in the queue of slow webhooks. */
async function slowed<Message extends Partial<DeliveryMessage> & { webhookId: string }>(message: Message) {
  await markWebhookSlow(webhooks, webhooks.organization, message.webhookId);
  return { ...message, slow: true } as const;
}

describe('an attempt', () => {
  it('that lasts 2 s marks its webhook as slow before it ends', async () => {
    const [first, second] = (await createMessages(2)) as [DeliveryMessage, DeliveryMessage];
    const { letGo } = await webhooks.beginAttempt(first, slowFailure);
    expect(webhooks.timers).toMatchObject([{ afterMs: 2_000, stopped: false }]);
    webhooks.timers[0]?.fire();
    await expect.poll(async () => (await readWebhook(first))?.slow).toBe(true);
    expect(await webhooks.attempt(second)).toMatchObject(slowQueue);
    await letGo();
  });

  it('that ends sooner does not', async () => {
    await webhooks.attempt(await webhooks.message());
    expect(webhooks.timers).toMatchObject([{ stopped: true }]);
    expect(await webhooks.attempt(await webhooks.nextMessage())).toMatchObject({ posts: 1, sent: [] });
  });

  it('that lasts 2 s is recorded though its webhook is deleted meanwhile', async () => {
    const message = await webhooks.message();
    const { letGo } = await webhooks.beginAttempt(message, slowFailure);
    await deleteWebhook(webhooks, webhooks.organization, message.webhookId, () => {});
    webhooks.timers[0]?.fire();
    await letGo();
    expect(await readWebhook(message)).toBeUndefined();
    expect(await webhooks.delivery(message)).toMatchObject({ state: 'retrying' });
  });
});

describe('more than five attempts of one webhook in a container', () => {
  async function beginSeven(outcome = {}) {
    const messages = await createMessages(7);
    const running = await Promise.all(messages.slice(0, 5).map((message) => webhooks.beginAttempt(message, outcome)));
    const waiting = Promise.all(messages.slice(5).map((message) => webhooks.attempt(message)));
    await expect.poll(() => [...webhooks.webhookAttempts.values()].map((one) => one.waiting.length)).toEqual([2]);
    return { waiting, endAll: () => Promise.all(running.map(({ letGo }) => letGo())) };
  }

  it('are made one after the other where the receiver is quick', async () => {
    const { waiting, endAll } = await beginSeven();
    await endAll();
    expect(await waiting).toEqual(Array(2).fill({ posts: 1, sent: [] }));
  });

  it('go to the queue of slow webhooks as soon as one of them has lasted 2 s', async () => {
    const { waiting, endAll } = await beginSeven(slowFailure);
    webhooks.timers[0]?.fire();
    expect((await waiting).map(({ posts }) => posts)).toEqual([0, 0]);
    const sent = { to: 'slowDeliveries', message: { slow: true }, delaySeconds: 0 };
    expect(webhooks.queue.sent.slice(7)).toMatchObject([sent, sent]);
    await endAll();
  });
});

describe('attempts from the queue of slow webhooks', () => {
  /** Begins as many attempts of a webhook as may run at the same time, and returns the message of one more. */
  async function occupyLeases() {
    const messages = await Promise.all((await createMessages(slowAttempts + 1)).map(slowed));
    const message = messages.pop() as DeliveryMessage;
    const running: Awaited<ReturnType<TestWebhooks['beginAttempt']>>[] = [];
    for (const one of messages) running.push(await webhooks.beginAttempt(one, slowFailure));
    return { running, message, endAll: () => Promise.allSettled(running.map(({ letGo }) => letGo())) };
  }

  const lease = ({ webhookId }: DeliveryMessage, number: number) => {
    const [now, until] = [timestamp(webhooks.clock()), timestamp(webhooks.clock() + 20_000)];
    return leaseSlowAttempt(webhooks, webhooks.organization, webhookId, { now, until, number });
  };

  it('are limited for each webhook; one more is sent again after 1 s, until one ends', async () => {
    const { running, message, endAll } = await occupyLeases();
    expect(running.flatMap(({ posts }) => posts)).toHaveLength(slowAttempts);
    const before = await webhooks.dump();
    const sent = [{ to: 'slowDeliveries', message, delaySeconds: 1 }];
    expect(await webhooks.attempt(message)).toEqual({ posts: 0, sent });
    expect(await webhooks.dump()).toEqual(before);
    webhooks.clock.now += 9_000;
    await running[0]?.letGo();
    expect(await webhooks.attempt(message, slowFailure)).toMatchObject({ posts: 1 });
    await endAll();
  });

  it.each([
    [7, '0000', 2],
    [7, 'ZZZZ', 1],
    [100, '0000', 25],
    [100, 'ZZZZ', 13],
    [7_200, '0000', 900],
    [7_200, 'ZZZZ', 900],
    [86_400, 'ZZZZ', 900],
  ])(
    'that have waited for %i s, and whose delivery ids end in %s, are sent again after %i s',
    async (waitedSeconds, end, delaySeconds) => {
      const { deliveryId, ...message } = await webhooks.message();
      webhooks.clock.now += waitedSeconds * 1_000;
      const waiting = await slowed({ ...message, deliveryId: deliveryId.slice(0, -4) + end });
      for (let number = 0; number < slowAttempts; number++) await lease(waiting, number);
      expect(await webhooks.attempt(waiting)).toMatchObject({ posts: 0, sent: [{ delaySeconds }] });
    },
  );

  it('are made again 20 s after workers were lost with all that the webhook may have', async () => {
    const { message } = await occupyLeases();
    webhooks.clock.now += 19_999;
    expect(await webhooks.attempt(message)).toMatchObject({ posts: 0 });
    webhooks.clock.now += 1;
    expect(await webhooks.attempt(message)).toMatchObject({ posts: 1 });
  });

  it('never run in larger numbers because one ends after its lease has expired', async () => {
    const { running, message } = await occupyLeases();
    webhooks.clock.now += 20_000;
    const others: typeof running = [];
    for (let taken = 0; taken < slowAttempts; taken++)
      others.push(await webhooks.beginAttempt({ ...(await webhooks.nextMessage()), slow: true }, slowFailure));
    expect(others.flatMap(({ posts }) => posts)).toHaveLength(slowAttempts);
    await Promise.all(running.map(({ letGo }) => letGo()));
    expect(await webhooks.attempt(message)).toMatchObject({ posts: 0 });
    await Promise.all(others.map(({ letGo }) => letGo()));
    expect(await webhooks.attempt(message)).toMatchObject({ posts: 1 });
  });

  it('that another worker was sooner than are sent again', async () => {
    const message = await slowed(await webhooks.message());
    const container = webhooks.createContainer();
    // Another worker takes the same lease between this worker's read and its write.
    const table = interceptTable(container.table, async (write, { input }) => {
      const [, number] = /"#lease":"slowLease(\d+)"/.exec(JSON.stringify(input)) ?? [];
      if (number) await lease(message, +number);
      return write();
    });
    const sent = [{ to: 'slowDeliveries', message, delaySeconds: 1 }];
    expect(await webhooks.attempt(message, {}, { ...container, table })).toEqual({ posts: 0, sent });
  });

  it('are made however long their workers have prepared them', async () => {
    const message = await slowed(await webhooks.message());
    const container = webhooks.createContainer();
    const table = interceptTable(container.table, async (write, { input }) => {
      const answer = await write();
      if (JSON.stringify(input).includes('slowLease')) webhooks.clock.now += 6_000;
      return answer;
    });
    expect(await webhooks.attempt(message, {}, { ...container, table })).toEqual({ posts: 1, sent: [] });
  });

  it('go to their own queue when the webhook is quick again', async () => {
    const { slow, ...message } = await slowed(await webhooks.message());
    await webhooks.attempt({ ...(await webhooks.nextMessage()), slow: true });
    const sent = [{ to: 'deliveries', message, delaySeconds: 0 }];
    expect(await webhooks.attempt({ ...message, slow: true })).toEqual({ posts: 0, sent });
    expect(await webhooks.attempt(message)).toEqual({ posts: 1, sent: [] });
  });

  it('stay there while an attempt of this process is known to be slow, which the webhook is not', async () => {
    const [first, second] = (await createMessages(2)) as [DeliveryMessage, DeliveryMessage];
    const { letGo } = await webhooks.beginAttempt(first, slowFailure);
    webhooks.timers[0]?.fire();
    await expect.poll(async () => (await readWebhook(first))?.slow).toBe(true);
    await webhooks.attempt({ ...(await webhooks.nextMessage()), slow: true });
    expect((await readWebhook(first))?.slow).toBe(false);
    expect(await webhooks.attempt(second)).toMatchObject(slowQueue);
    expect(await webhooks.attempt({ ...second, slow: true })).toEqual({ posts: 1, sent: [] });
    await letGo();
  });

  it('that were made late take no lease when their messages come again', async () => {
    const message = await slowed(await webhooks.message());
    webhooks.clock.now += 3_600_000;
    expect(await webhooks.attempt(message)).toMatchObject({ posts: 1 });
    const before = await webhooks.dump();
    expect(await webhooks.attempt(message)).toEqual({ posts: 0, sent: [] });
    expect(await webhooks.dump()).toEqual(before);
  });
});

describe('an attempt that waits for a lease for half a minute', () => {
  const minuteMs = 60_000;
  let id: string;

  // A sweep is over the whole table, so each test has one of its own.
  beforeEach(async () => {
    webhooks = (await prepareTestWebhooks())();
    ({ id } = await webhooks.register());
  });

  /** Tries an attempt in vain after some seconds, and returns its next message and the delay of the message. */
  async function tryAfter(seconds: number, message: DeliveryMessage, container?: Context) {
    webhooks.clock.now += seconds * 1_000;
    const [now, until] = [timestamp(webhooks.clock()), timestamp(webhooks.clock() + 1)];
    for (let number = 0; number < slowAttempts; number++)
      await leaseSlowAttempt(webhooks, webhooks.organization, id, { now, until, number });
    const { posts, sent } = await webhooks.attempt(message, {}, container);
    expect({ posts, sent: sent.length }).toEqual({ posts: 0, sent: 1 });
    return sent[0] as { message: DeliveryMessage; delaySeconds: number };
  }

  const slowMessage = async () => slowed(await webhooks.nextMessage());

  /** Returns the items of waiting attempts. */
  const readWaiting = async () =>
    Object.entries(await webhooks.dump()).flatMap(([key, item]) =>
      key.includes(' P#') ? [item as { waitsUntil: string; dueAt: string }] : [],
    );

  /** Sweeps some seconds later, and returns the sent messages. */
  async function sweepAfter(seconds: number): Promise<DeliveryMessage[]> {
    webhooks.clock.now += seconds * 1_000;
    const before = webhooks.queue.sent.length;
    await sweepDeliveries(webhooks, { until: webhooks.clock() });
    return webhooks.queue.sent.slice(before).map(({ message }) => message);
  }

  it('has an item that is due ten minutes after its next try, which later tries move only from then on', async () => {
    const message = await slowMessage();
    expect((await tryAfter(20, message)).message).toEqual(message);
    expect(await readWaiting()).toEqual([]);
    const parked = await tryAfter(15, message);
    expect(parked.message).toEqual({ ...message, parked: true });
    const [item] = await readWaiting();
    const dueMs = Date.parse(item?.dueAt as string) - webhooks.clock() - 10 * minuteMs;
    expect(Math.ceil(dueMs / 1_000)).toBe(parked.delaySeconds);
    const before = await readWaiting();
    await tryAfter(400, message);
    expect(await readWaiting()).toEqual(before);
    await tryAfter(200, message);
    expect(Date.parse((await readWaiting())[0]?.dueAt as string)).toBeGreaterThan(webhooks.clock() + 10 * minuteMs);
  });

  it('is not lost until then: no check, no comparison and no caller takes it', async () => {
    const { message } = await tryAfter(100, await slowMessage());
    expect(await sweepAfter(9 * 60)).toEqual([]);
    const later = await tryAfter(0, message);
    expect(await sweepAfter(11 * 60)).toEqual([]);
    const range = { from: startTime, to: webhooks.clock(), now: webhooks.clock() };
    const { waiting, lost } = await compareDeliveries(webhooks, webhooks.organization, range);
    expect([waiting.length, lost]).toEqual([1, []]);
    const { deliveryId } = message;
    const redelivered = redeliverDelivery(webhooks, webhooks.organization, { webhookId: id, deliveryId }, undefined);
    await expect(redelivered).rejects.toMatchObject({ code: 'delivery_in_progress' });
    const { slow, ...lostMessage } = later.message;
    expect(await sweepAfter(2 * 60)).toEqual([lostMessage]);
  });

  it('still counts as late', async () => {
    await tryAfter(100, await slowMessage());
    webhooks.clock.now += 500_000;
    const { waits, counts } = await sweepDeliveries(webhooks, { until: webhooks.clock() });
    expect(waits).toEqual({ DeliveriesLate: 0, SlowDeliveriesLate: 600 });
    expect(counts).toEqual({});
  });

  it('is no longer listed by the row of the attempt before, and leaves nothing behind when it is made', async () => {
    const retry = await slowed(await webhooks.retry(await webhooks.nextMessage()));
    webhooks.clock.now = Date.parse(retry.dueAt);
    const { message } = await tryAfter(40, retry);
    expect(message).toMatchObject({ attempt: 2, parked: true });
    expect(await sweepAfter(2 * 60)).toEqual([]);
    expect(await webhooks.attempt(message)).toMatchObject({ posts: 1, sent: [] });
    expect(await readWaiting()).toEqual([]);
    expect(await sweepAfter(60 * 60)).toEqual([]);
  });

  it('keeps its item when another worker parks it for a pause meanwhile', async () => {
    const message = await slowMessage();
    const container = webhooks.createContainer();
    let paused = false;
    const table = interceptTable(container.table, async (send, { input }) => {
      if (!paused && JSON.stringify(input).includes('"waitsUntil"')) {
        paused = true;
        await updateWebhook(webhooks, webhooks.organization, id, { active: false }, () => {});
        await webhooks.attempt(message);
      }
      return send();
    });
    await tryAfter(100, message, { ...container, table });
    expect(await readWaiting()).toEqual([expect.not.objectContaining({ dueAt: expect.anything() })]);
    await updateWebhook(webhooks, webhooks.organization, id, { active: true }, () => {});
    expect((await sweepAfter(1)).map(({ deliveryId }) => deliveryId)).toEqual([message.deliveryId]);
  });

  it('that a clock that was ahead has stored is due at the latest after its longest wait', async () => {
    const { message } = await tryAfter(3_600, await slowMessage());
    webhooks.clock.now -= 3_500_000;
    await tryAfter(0, message);
    const [item] = await readWaiting();
    expect(Date.parse(item?.dueAt as string)).toBeLessThan(webhooks.clock() + 26 * minuteMs);
  });
});
