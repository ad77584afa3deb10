import { beforeEach, describe, expect, it } from 'vitest';
import { timeOf, ulidOf } from '../../../lib/contract/ids.ts';
import type { Webhook, WebhookPatch } from '../../../lib/contract/webhooks/webhooks.ts';
import type { DeliveryMessage } from '../../../lib/names/messages.ts';
import { readParkedAttempts } from '../../../lib/table/deliveries/parked-attempts.ts';
import { maxPauses } from '../../../lib/table/webhooks/pauses.ts';
import { skippedAfterMs } from '../../../lib/webhooks/attempts/paused-attempts.ts';
import { compareDeliveries } from '../../../lib/webhooks/deliveries/compare-deliveries.ts';
import { sweepDeliveries } from '../../../lib/webhooks/deliveries/sweep.ts';
import { redeliverDelivery } from '../../../lib/webhooks/redelivery.ts';
import { getWebhook, updateWebhook } from '../../../lib/webhooks/webhooks.ts';
import { interceptTable } from '../../table/fixtures/intercepted-table.ts';
import { failed, notingSender, prepareTestWebhooks, startTime, type TestWebhooks } from '../test-webhooks.ts';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
let webhooks: TestWebhooks;
let webhook: Webhook;

// A sweep is over the whole table, so each test has one of its own.
beforeEach(async () => {
  webhooks = (await prepareTestWebhooks())();
  webhook = await webhooks.register();
});

const update = (patch: WebhookPatch) =>
  updateWebhook(webhooks, webhooks.organization, webhook.id, patch, () => {}).then(({ data }) => data);
const pause = () => update({ active: false });
const resume = () => update({ active: true });
const pass = (ms: number) => {
  webhooks.clock.now += ms;
};

/** Sweeps, and returns what the sweep did and the sent messages. */
async function sweep() {
  const before = webhooks.queue.sent.length;
  const swept = await sweepDeliveries(webhooks, { until: webhooks.clock() });
  return { ...swept, sent: webhooks.queue.sent.slice(before).map(({ message }) => message) };
}

const parked = () => Array.fromAsync(readParkedAttempts(webhooks, webhooks.organization, webhook.id));

/** Makes the attempts of messages and of the messages that follow without delay; returns the number of posts. */
async function deliverAll(messages: readonly DeliveryMessage[]): Promise<number> {
  let posts = 0;
  for (const waiting = [...messages]; waiting.length > 0; ) {
    const made = await webhooks.attempt(waiting.shift() as DeliveryMessage);
    posts += made.posts;
    waiting.push(...made.sent.filter(({ delaySeconds }) => !delaySeconds).map(({ message }) => message));
  }
  return posts;
}

/** Returns the message of a retry that is due now. */
async function dueRetry(): Promise<DeliveryMessage> {
  const retry = await webhooks.retry(await webhooks.nextMessage());
  webhooks.clock.now = Date.parse(retry.dueAt);
  return retry;
}

describe('an event in a pause is skipped', () => {
  it('when its message arrives in the pause, also after the wait in which the pause may still end before it', async () => {
    await pause();
    pass(1);
    const first = await webhooks.nextMessage();
    const { posts, sent } = await webhooks.attempt(first);
    expect([posts, sent]).toMatchObject([0, [{ message: first, delaySeconds: skippedAfterMs / 1000 }]]);
    pass(skippedAfterMs);
    expect(await webhooks.attempt(first)).toEqual({ posts: 0, sent: [] });
    expect(await parked()).toEqual([]);
    await resume();
    expect(await webhooks.attempt(first)).toEqual({ posts: 0, sent: [] });
  });

  it('when its message arrives only after the pause', async () => {
    await pause();
    const first = await webhooks.nextMessage();
    pass(1);
    await resume();
    expect(await webhooks.attempt(first)).toEqual({ posts: 0, sent: [] });
  });

  it('and counts neither as a delivery nor as lost', async () => {
    await pause();
    await webhooks.nextMessage();
    pass(1);
    await resume();
    const delivered = await webhooks.nextMessage();
    await webhooks.attempt(delivered);
    const now = webhooks.clock() + dayMs;
    const range = { from: startTime, to: now, now };
    expect(await compareDeliveries(webhooks, webhooks.organization, range)).toEqual({
      ...{ events: 2, deliveries: 1, waiting: [], lost: [] },
    });
  });

  it('and has no delivery that could be sent again', async () => {
    await pause();
    const { webhookId, deliveryId } = await webhooks.nextMessage();
    pass(1);
    await resume();
    const redelivery = redeliverDelivery(webhooks, webhooks.organization, { webhookId, deliveryId }, undefined);
    await expect(redelivery).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('an event outside a pause is delivered', () => {
  it('after the pause, although its message arrived while the pause seemed open', async () => {
    await pause();
    pass(minuteMs);
    const resumedAt = webhooks.clock();
    const first = await webhooks.nextMessage();
    // The worker has read the webhook just before the resume is stored, whose time is the time of the event.
    expect((await webhooks.attempt(first)).posts).toBe(0);
    await resume();
    expect(timeOf(ulidOf(first.eventId as string))).toBe(resumedAt);
    pass(skippedAfterMs);
    expect((await webhooks.attempt(first)).posts).toBe(1);
  });

  it('after the pause, although its message arrived in the pause', async () => {
    const first = await webhooks.nextMessage();
    pass(1);
    await pause();
    expect(await webhooks.attempt(first)).toEqual({ posts: 0, sent: [] });
    expect(await parked()).toMatchObject([{ message: first, listed: false }]);
    pass(dayMs);
    await resume();
    const { sent, woken } = await sweep();
    expect([sent, woken]).toEqual([[{ ...first, parked: true }], 1]);
    expect(await parked()).toMatchObject([{ listed: true }]);
    expect((await webhooks.attempt(sent[0] as DeliveryMessage)).posts).toBe(1);
    expect(await parked()).toEqual([]);
  });

  it('between two pauses, and after them', async () => {
    for (let nth = 0; nth < 2; nth++) {
      await pause();
      pass(1);
      await resume();
      expect((await webhooks.attempt(await webhooks.nextMessage())).posts).toBe(1);
      pass(1);
    }
  });
});

describe('a retry that comes due in a pause', () => {
  it('costs nothing while the webhook stays paused: no sweep sends it', async () => {
    const retry = await dueRetry();
    await pause();
    expect(await webhooks.attempt(retry)).toEqual({ posts: 0, sent: [] });
    for (let day = 0; day < 30; day++) {
      pass(dayMs);
      expect(await sweep()).toMatchObject({ sent: [], woken: 0, waits: { DeliveriesLate: 0 }, counts: {} });
    }
  });

  it('goes to the URL that the webhook has after the pause', async () => {
    const retry = await dueRetry();
    await pause();
    await webhooks.attempt(retry);
    const url = 'https://example.com/new';
    expect(await update({ url })).toMatchObject({ url, active: false });
    await resume();
    const { posts, send } = notingSender();
    for (const message of (await sweep()).sent) await webhooks.deliver(message, send);
    expect(posts).toMatchObject([{ url }]);
  });

  it('is retried as often as any other after the pause', async () => {
    const retry = await dueRetry();
    await pause();
    await webhooks.attempt(retry);
    pass(dayMs);
    await resume();
    const [again] = (await sweep()).sent;
    expect(again).toEqual({ ...retry, parked: true });
    const { send } = notingSender(failed);
    await webhooks.attemptAll(again as DeliveryMessage, send);
    expect(await webhooks.delivery(retry)).toEqual({ state: 'exhausted', attempt: 4, listed: false });
  });

  it('is not late after the pause, and its message does not count as lost', async () => {
    const retry = await dueRetry();
    await pause();
    await webhooks.attempt(retry);
    pass(dayMs);
    await resume();
    await sweep();
    pass(2 * minuteMs);
    expect(await sweep()).toMatchObject({
      sent: [{ ...retry, parked: true }],
      waits: { DeliveriesLate: 120 },
      counts: {},
    });
    const now = webhooks.clock();
    const compared = await compareDeliveries(webhooks, webhooks.organization, { from: startTime, to: now, now });
    expect(compared).toMatchObject({ waiting: [retry], lost: [] });
  });

  it('is parked again in a second pause, although the first release has not listed it yet', async () => {
    const retry = await dueRetry();
    await pause();
    await webhooks.attempt(retry);
    pass(1);
    await resume();
    // The worker parks the retry again before the sweep lists the parked attempt.
    const table = interceptTable(webhooks.table, async (send, { input }) => {
      if (/"Key":\{"pk":"[^"]+","sk":"P#/.test(JSON.stringify(input))) {
        pass(1);
        await pause();
        await webhooks.attempt(retry);
      }
      return send();
    });
    await sweepDeliveries({ ...webhooks, table }, { until: webhooks.clock() });
    expect(await parked()).toMatchObject([{ listed: false }]);
    pass(dayMs);
    await resume();
    expect(await deliverAll((await sweep()).sent)).toBe(1);
  });
});

describe.each([
  ['', Number.POSITIVE_INFINITY],
  [', and the process ends at once,', 0],
  [', and the process ends after one more request to the table,', 1],
  [', and the process ends after two more requests to the table,', 2],
])('a retry is not left behind if the pause ends%s', (_, requests) => {
  it.each([
    ['before it is parked', /"sk":"P#/, 'before'],
    ['after it is parked', /"sk":"P#/, 'after'],
    ['before it is unlisted', /REMOVE #due/, 'before'],
    ['after it is unlisted', /REMOVE #due/, 'after'],
    ['before the webhook is read again', /"Key":\{"pk":"[^"]+#W","sk":"[^"]+"\},"ConsistentRead"/, 'before'],
    ['after the webhook is read again', /"Key":\{"pk":"[^"]+#W","sk":"[^"]+"\},"ConsistentRead"/, 'after'],
  ])('%s', async (_, request, when) => {
    const retry = await dueRetry();
    await pause();
    let ended = false;
    let remaining = requests;
    const swept: DeliveryMessage[] = [];
    const endPause = async () => {
      if (ended) return;
      ended = true;
      pass(1);
      await resume();
      swept.push(...(await sweep()).sent);
    };
    const table = interceptTable(webhooks.table, async (send, { input }) => {
      const isStep = request.test(JSON.stringify(input));
      if (isStep && when === 'before') await endPause();
      if (ended && remaining-- <= 0) throw new Error('The process has ended.');
      const answer = await send();
      if (isStep && when === 'after') await endPause();
      return answer;
    });
    const worker = webhooks.attempt(retry, {}, { ...webhooks.createContainer(), table });
    // The message of a process that has ended is lost with it.
    const { posts, sent } = await worker.catch(() => ({ posts: 0, sent: [] }));
    expect([posts, ended]).toEqual([0, true]);
    const messages = [...swept, ...sent.map(({ message }) => message)];
    for (let nth = 0; nth < 2; nth++) {
      pass(10 * minuteMs);
      messages.push(...(await sweep()).sent);
    }
    expect(await deliverAll(messages)).toBe(1);
    pass(10 * minuteMs);
    expect(await deliverAll((await sweep()).sent)).toBe(0);
    expect(await parked()).toEqual([]);
  });
});

it('a redelivery that comes due in a pause waits for its end, and none can be requested', async () => {
  const first = await webhooks.nextMessage();
  await webhooks.attempt(first);
  const { webhookId, deliveryId } = first;
  const redeliver = () => redeliverDelivery(webhooks, webhooks.organization, { webhookId, deliveryId }, undefined);
  await redeliver();
  await pause();
  await expect(redeliver()).rejects.toMatchObject({ code: 'webhook_paused' });
  const [message] = (await sweep()).sent;
  expect(await webhooks.attempt(message as DeliveryMessage)).toEqual({ posts: 0, sent: [] });
  pass(dayMs);
  expect((await sweep()).sent).toEqual([]);
  await resume();
  const [again] = (await sweep()).sent;
  expect(again).toEqual({ ...message, parked: true });
  expect(await webhooks.attempt(again as DeliveryMessage, failed)).toEqual({ posts: 1, sent: [] });
});

it('a webhook can be paused a limited number of times in 90 days, and pauses that are older do not count', async () => {
  for (let nth = 0; nth < maxPauses; nth++) {
    await pause();
    await resume();
  }
  await expect(pause()).rejects.toMatchObject({ code: 'limit_reached' });
  expect((await getWebhook(webhooks, webhooks.organization, webhook.id)).data.active).toBe(true);
  pass(92 * dayMs);
  expect(await pause()).toMatchObject({ active: false });
});
