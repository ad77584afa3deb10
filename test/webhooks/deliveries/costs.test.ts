import { beforeEach, describe, expect, it } from 'vitest';
import { timestamp, ulidOf } from '../../../lib/contract/ids.ts';
import type { DeliveryMessage } from '../../../lib/names/messages.ts';
import type { Outcome } from '../../../lib/sender/sender.ts';
import { keys } from '../../../lib/table/access/keys.ts';
import { isTurnToCount } from '../../../lib/table/deliveries/attempt-counts.ts';
import { leaseSlowAttempt, markWebhookSlow, takePermits } from '../../../lib/table/webhooks/webhook-attempts.ts';
import { releaseParked, skippedAfterMs } from '../../../lib/webhooks/attempts/paused-attempts.ts';
import { publishEvents } from '../../../lib/webhooks/deliveries/publish-events.ts';
import { redeliverDelivery } from '../../../lib/webhooks/redelivery.ts';
import { updateWebhook } from '../../../lib/webhooks/webhooks.ts';
import { meter } from '../../table/fixtures/capacity.ts';
import { expectAtMost } from '../../table/fixtures/cost-limits.ts';
import { failed, notingSender, prepareTestWebhooks, slowAttempts, type TestWebhooks } from '../test-webhooks.ts';

const createTestWebhooks = await prepareTestWebhooks();
let webhooks: TestWebhooks;
const { costOf, itemsIn } = meter(createTestWebhooks().table);
beforeEach(() => {
  webhooks = createTestWebhooks();
});

const register = () => webhooks.register({ secret: 'a secret' });

/** The messages of a new event, none of which has the attempts of its webhook counted. */
async function publish(): Promise<DeliveryMessage[]> {
  const messages = await webhooks.publish();
  return messages.some(({ deliveryId }) => isTurnToCount(deliveryId)) ? publish() : messages;
}

async function newMessage(): Promise<DeliveryMessage> {
  await register();
  const [message] = await publish();
  return message as DeliveryMessage;
}

/** Returns the message of a new event of a slow webhook, as it is in the queue of slow webhooks. */
async function newSlowMessage() {
  const message = { ...(await newMessage()), slow: true } as const;
  await markWebhookSlow(webhooks, webhooks.organization, message.webhookId);
  return message;
}

it('events of the same name that are published at the same moment cost one read of the subscribers', async () => {
  await webhooks.register();
  // Plans the check of the events.
  await webhooks.publish();
  const changes = Array.from({ length: 10 }, () => webhooks.change());
  const cost = await costOf(() => Promise.all(changes.map((change) => publishEvents(webhooks, change))));
  expectAtMost(cost, { requests: 2, rounds: 1, rcu: 1, wcu: 10 });
});

it('the first event of five minutes costs a request more, for the check of its deliveries', async () => {
  await webhooks.register();
  const first = await costOf(() => webhooks.publish());
  const next = await costOf(() => webhooks.publish());
  expect([first, next]).toMatchObject([
    { requests: 3, rounds: 2, wcu: 2 },
    { requests: 2, rounds: 1, wcu: 1 },
  ]);
});

it('ten events that are published late cost one write unit more, and on time none', async () => {
  const changes = Array.from({ length: 10 }, () => webhooks.change());
  const publishAll = () => Promise.all(changes.map((change) => publishEvents(webhooks, change)));
  expectAtMost(await costOf(publishAll), { requests: 2, rounds: 1, rcu: 1, wcu: 10 });
  webhooks.clock.now += 60_000;
  expectAtMost(await costOf(publishAll), { requests: 3, rounds: 2, rcu: 1, wcu: 11 });
});

describe('an attempt costs', () => {
  it.each([
    ['hardly more than its row where five of a webhook', 1, 5, { requests: 3, rounds: 2, rcu: 12, wcu: 6 }],
    ['a note for each webhook where those of ten', 10, 1, { requests: 12, rounds: 2, rcu: 31, wcu: 20 }],
  ])('%s are made at the same moment', async (_, subscribers, events, limits) => {
    await Promise.all(Array.from({ length: subscribers }, register));
    const messages: DeliveryMessage[] = [];
    for (let nth = 0; nth < events; nth++) messages.push(...(await publish()));
    expectAtMost(await costOf(() => Promise.all(messages.map((message) => webhooks.attempt(message)))), limits);
  });

  it('a request, a write and a read unit more for a retry, which is taken off the sweeper’s list and may be replaced', async () => {
    const retry = await webhooks.retry(await newMessage());
    webhooks.clock.now = Date.parse(retry.dueAt);
    const cost = await costOf(() => webhooks.attempt(retry));
    expectAtMost(cost, { requests: 4, rounds: 3, rcu: 6, wcu: 3 });
  });

  it('a request and a write unit more in the queue of slow webhooks, for a lease', async () => {
    const message = await newSlowMessage();
    const cost = await costOf(() => webhooks.attempt(message, { durationMs: 9_000 }));
    expectAtMost(cost, { requests: 4, rounds: 3, rcu: 5, wcu: 3 });
  });

  it('four write units more if it waits long for a slow receiver, and three for each further ten minutes', async () => {
    const message = await newSlowMessage();
    const occupy = async () => {
      const [now, until] = [timestamp(webhooks.clock()), timestamp(webhooks.clock() + 1)];
      for (let number = 0; number < slowAttempts; number++)
        await leaseSlowAttempt(webhooks, webhooks.organization, message.webhookId, { number, now, until });
    };
    const tryAfter = async (seconds: number, next: DeliveryMessage) => {
      webhooks.clock.now += seconds * 1_000;
      await occupy();
      const before = webhooks.queue.sent.length;
      const cost = await costOf(() => webhooks.attempt(next));
      return { cost, next: (webhooks.queue.sent[before] as { message: DeliveryMessage }).message };
    };
    const soon = await tryAfter(20, message);
    expectAtMost(soon.cost, { requests: 1, rounds: 1, rcu: 5, wcu: 0 });
    const first = await tryAfter(15, soon.next);
    expectAtMost(first.cost, { requests: 3, rounds: 3, rcu: 6, wcu: 2 });
    const second = await tryAfter(65, first.next);
    expectAtMost(second.cost, { requests: 2, rounds: 2, rcu: 6, wcu: 0 });
    const third = await tryAfter(560, second.next);
    expectAtMost(third.cost, { requests: 3, rounds: 3, rcu: 6, wcu: 3 });
    webhooks.clock.now += 1;
    expectAtMost(await costOf(() => webhooks.attempt(third.next)), { requests: 7, rounds: 6, rcu: 7, wcu: 5 });
  });

  it('a request and a write unit more for its permit, because its webhook has a maximum rate', async () => {
    await webhooks.register({ secret: 'a secret', maxPerSecond: 1 });
    const [message] = await publish();
    const cost = await costOf(() => webhooks.attempt(message as DeliveryMessage));
    expectAtMost(cost, { requests: 3, rounds: 3, rcu: 4, wcu: 2 });
  });

  it('five write units and two read units more if it waits for its turn for more than five seconds', async () => {
    const { id } = await webhooks.register({ secret: 'a secret', maxPerSecond: 1 });
    await takeAll(id);
    const [message] = (await publish()) as [DeliveryMessage];
    const before = webhooks.queue.sent.length;
    expectAtMost(await costOf(() => webhooks.attempt(message)), { requests: 5, rounds: 5, rcu: 7, wcu: 3 });
    webhooks.clock.now += 6_000;
    const { message: booked } = webhooks.queue.sent[before] as { message: DeliveryMessage };
    expectAtMost(await costOf(() => webhooks.attempt(booked)), { requests: 4, rounds: 4, rcu: 4, wcu: 4 });
  });

  /** Takes the permits of the next six seconds, so that an attempt books a time. */
  const takeAll = (id: string) => {
    const block = { maxPerSecond: 1, pacedMs: 1_000, aheadMs: 0, longestMs: 60_000 };
    return takePermits(webhooks, webhooks.organization, id, { ...block, count: 6, now: webhooks.clock() });
  };
  const inLog = (id: string, action: () => Promise<unknown>) =>
    itemsIn(keys.attemptScope(webhooks.organization, ulidOf(id)).rows, action);

  // DynamoDB takes 1,000 write units and 3,000 read units a second in a partition (docs/architecture.md).
  const inTime = 2_000;
  const late = 120_000;
  it.each([
    ['one write in the log of its webhook, and one read for each receipt of its message', false, inTime, 1, 1],
    ['a write and two reads more there if it is late', false, late, 2, 1],
    ['a write more, and three reads for each receipt, for a retry', true, inTime, 2, 3],
    ['a write and two reads more for a late retry', true, late, 3, 3],
  ])('%s, also if it waits for its turn', async (_, isRetry, lateMs, writes, reads) => {
    const more = lateMs === late ? 2 : 0;
    const { id } = await webhooks.register({ secret: 'a secret', maxPerSecond: 1 });
    const next = async () => {
      const [message] = (await publish()) as [DeliveryMessage];
      // After the permit of the attempt before.
      webhooks.clock.now += inTime;
      const due = isRetry ? await webhooks.retry(message) : message;
      webhooks.clock.now = Date.parse(due.dueAt) + lateMs;
      return due;
    };
    const promptly = await next();
    expect(await inLog(id, () => webhooks.attempt(promptly))).toEqual({ writes, reads: reads + more });

    const message = await next();
    await takeAll(id);
    const before = webhooks.queue.sent.length;
    const booked = await inLog(id, () => webhooks.attempt(message));
    webhooks.clock.now += 6_000;
    const { message: again } = webhooks.queue.sent[before] as { message: DeliveryMessage };
    expect(again).toMatchObject({ parked: true });
    const made = await inLog(id, () => webhooks.attempt(again));
    expect([booked.writes + made.writes, booked.reads + made.reads]).toEqual([writes, 2 * reads + more]);
  });

  it('a read more in the log if it has waited for its permit', async () => {
    const { id } = await webhooks.register({ secret: 'a secret', maxPerSecond: 2 });
    const [first, second] = [(await publish())[0], (await publish())[0]] as [DeliveryMessage, DeliveryMessage];
    await webhooks.attempt(first);
    const pause = async (milliseconds: number) => {
      webhooks.clock.now += milliseconds;
    };
    const container = { ...webhooks.createContainer(), pause };
    expect(await inLog(id, () => webhooks.attempt(second, {}, container))).toEqual({ writes: 1, reads: 2 });
  });

  it('a request and a write unit more when the webhook turns out slow', async () => {
    const message = await newMessage();
    const { send } = notingSender({ durationMs: 9_000 }, () => webhooks.timers.at(-1)?.fire());
    const cost = await costOf(() => webhooks.deliver(message, send));
    expectAtMost(cost, { requests: 4, rounds: 3, rcu: 4, wcu: 3 });
  });
});

describe('the write units of an attempt are', () => {
  const headers = Object.entries({ date: 'Sun, 01 Mar 2026 12:00:00 GMT', 'content-type': 'text/html; charset=utf-8' });

  it.each<[string, Partial<Outcome>, number]>([
    ['1 for an empty success', { responseHeaders: headers }, 1],
    ['2 with a body of 2 bytes', { httpStatus: 200, responseHeaders: headers, responseBody: 'ok' }, 2],
    ['2 with a body of half a KiB', { httpStatus: 200, responseHeaders: headers, responseBody: 'a'.repeat(512) }, 2],
    ['6 with 4 KiB of a body', { httpStatus: 200, responseHeaders: headers, responseBody: 'a'.repeat(16 * 1024) }, 6],
    ['2 for a failure with an empty response', { ...failed, responseHeaders: headers }, 2],
    ['1 for a failure without a response', { httpStatus: 0, error: 'The receiver refused the connection.' }, 1],
  ])('%s, in two requests, and one more after a failure', async (_, outcome, wcu) => {
    const message = await newMessage();
    const address = '2001:0db8:0000:0000:0000:ff00:0042:8329';
    const phases = { dns: 1_234, connect: 1_234, tls: 1_234, firstByte: 1_234 };
    const cost = await costOf(() => webhooks.attempt(message, { address, phases, ...outcome }));
    const requests = outcome.error === undefined ? 2 : 3;
    expect(cost).toMatchObject({ requests, rounds: requests, wcu });
  });
});

describe('what the events about a webhook cost:', () => {
  /** Makes the first attempts of new deliveries, which fail, and returns what the last one costs. */
  async function costOfFailure(count: number) {
    let cost = await costOf(async () => {});
    for (let nth = 0; nth < count; nth++) {
      webhooks.clock.now += 1;
      const [message] = (await publish()) as [DeliveryMessage];
      cost = await costOf(() => webhooks.attempt(message, failed));
    }
    return cost;
  }

  it('a failed attempt that announces nothing reads one unit more, and none once the webhook fails', async () => {
    await register();
    for (let nth = 0; nth < 20; nth++) await webhooks.attempt((await publish())[0] as DeliveryMessage);
    expectAtMost(await costOfFailure(1), { requests: 3, rounds: 3, rcu: 5, wcu: 2 });
    expectAtMost(await costOfFailure(9), { requests: 2, rounds: 2, rcu: 4, wcu: 2 });
  });

  it('the attempt that announces that the webhook fails, or has recovered: four write units more', async () => {
    await register();
    expectAtMost(await costOfFailure(3), { requests: 5, rounds: 5, rcu: 6, wcu: 6 });
    const [message] = (await publish()) as [DeliveryMessage];
    expectAtMost(await costOf(() => webhooks.attempt(message)), { requests: 4, rounds: 4, rcu: 5, wcu: 5 });
    const [next] = (await publish()) as [DeliveryMessage];
    expectAtMost(await costOf(() => webhooks.attempt(next)), { requests: 2, rounds: 2, rcu: 4, wcu: 1 });
  });

  it('a failed delivery of an event about a webhook reads nothing', async () => {
    const { id } = await register();
    await webhooks.register({ events: ['webhook.paused'] });
    webhooks.clock.now += 1;
    await updateWebhook(webhooks, webhooks.organization, id, { active: false }, () => {});
    const [message] = (await webhooks.publishOwnEvent()) as [DeliveryMessage];
    const cost = await costOf(() => webhooks.attempt({ ...message, attempt: 4 }, failed));
    expectAtMost(cost, { requests: 2, rounds: 2, rcu: 5, wcu: 2 });
  });

  it('the request that pauses a webhook: four write units, three more than any other change', async () => {
    const { id } = await register();
    const update = (patch: object) => costOf(() => updateWebhook(webhooks, webhooks.organization, id, patch, () => {}));
    expectAtMost(await update({ description: 'Orders' }), { requests: 3, rounds: 2, rcu: 2, wcu: 1 });
    expectAtMost(await update({ active: false }), { requests: 3, rounds: 2, rcu: 2, wcu: 4 });
  });
});

describe('a paused webhook costs', () => {
  const update = (id: string, active: boolean) =>
    updateWebhook(webhooks, webhooks.organization, id, { active }, () => {});

  it('two requests and no write unit for each event, which it skips', async () => {
    const { id } = await register();
    await update(id, false);
    const [message] = (await publish()) as [DeliveryMessage];
    expectAtMost(await costOf(() => webhooks.attempt(message)), { requests: 1, rounds: 1, rcu: 4, wcu: 0 });
    webhooks.clock.now += skippedAfterMs;
    expectAtMost(await costOf(() => webhooks.attempt(message)), { requests: 1, rounds: 1, rcu: 4, wcu: 0 });
  });

  it('three write units for a retry that is parked, and three when it is released', async () => {
    const retry = await webhooks.retry(await newMessage());
    webhooks.clock.now = Date.parse(retry.dueAt);
    await update(retry.webhookId, false);
    expectAtMost(await costOf(() => webhooks.attempt(retry)), { requests: 4, rounds: 4, rcu: 7, wcu: 3 });
    await update(retry.webhookId, true);
    const release = { organization: webhooks.organization, webhookId: retry.webhookId, version: 3 };
    // Two are for the release.
    expectAtMost(await costOf(() => releaseParked(webhooks, release)), { requests: 9, rounds: 4, rcu: 6, wcu: 5 });
  });

  it('nothing more for each attempt after the pause', async () => {
    const { id } = await register();
    await update(id, false);
    webhooks.clock.now += 1;
    await update(id, true);
    const [message] = (await publish()) as [DeliveryMessage];
    expectAtMost(await costOf(() => webhooks.attempt(message)), { requests: 2, rounds: 2, rcu: 4, wcu: 1 });
  });
});

describe('a redelivery costs', () => {
  const redeliver = ({ webhookId, deliveryId }: DeliveryMessage) =>
    redeliverDelivery(webhooks, webhooks.organization, { webhookId, deliveryId }, undefined);

  it('two write units for its request: the item, and its entry in the sweeper’s index', async () => {
    const message = await newMessage();
    await webhooks.attempt(message);
    expectAtMost(await costOf(() => redeliver(message)), { requests: 5, rounds: 4, rcu: 5, wcu: 2 });
  });

  it('as much as a retry for its attempt', async () => {
    const first = await newMessage();
    await webhooks.attempt(first);
    await redeliver(first);
    const { sk } = keys.redelivery(webhooks.organization, ulidOf(first.webhookId), ulidOf(first.deliveryId), 2);
    const message = {
      ...first,
      attempt: 2,
      dueAt: timestamp(webhooks.clock()),
      listedBy: sk,
      redelivery: true,
    } as const;
    const { posts, send } = notingSender();
    expectAtMost(await costOf(() => webhooks.deliver(message, send)), { requests: 4, rounds: 3, rcu: 5, wcu: 3 });
    expect(posts).toHaveLength(1);
  });
});
