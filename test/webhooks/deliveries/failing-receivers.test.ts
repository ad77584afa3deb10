import { beforeEach, describe, expect, it } from 'vitest';
import { timestamp } from '../../../lib/contract/ids.ts';
import type { Webhook } from '../../../lib/contract/webhooks/webhooks.ts';
import type { DeliveryMessage } from '../../../lib/names/messages.ts';
import { isTurnToCount } from '../../../lib/table/deliveries/attempt-counts.ts';
import { testWebhook } from '../../../lib/webhooks/test-delivery.ts';
import { getWebhook, updateWebhook } from '../../../lib/webhooks/webhooks.ts';
import { meter } from '../../table/fixtures/capacity.ts';
import { expectAtMost } from '../../table/fixtures/cost-limits.ts';
import { recover, runToEnd, sweep } from '../recoveries/test-recoveries.ts';
import { failed, notingSender, prepareTestWebhooks, startTime, type TestWebhooks } from '../test-webhooks.ts';

const hourMs = 60 * 60_000;
const dayMs = 24 * hourMs;

const createTestWebhooks = await prepareTestWebhooks();
const { costOf } = meter(createTestWebhooks().table);
let webhooks: TestWebhooks;
let id: string;
beforeEach(async () => {
  webhooks = createTestWebhooks();
  ({ id } = await webhooks.register());
});

const get = async (): Promise<Webhook> => (await getWebhook(webhooks, webhooks.organization, id)).data;
const setActive = (active: boolean) => updateWebhook(webhooks, webhooks.organization, id, { active }, () => {});
const at = (ms: number) => timestamp(startTime + ms);
const now = () => timestamp(webhooks.clock());

/** Publishes an event, and makes all of its attempts, which fail; none has the attempts of the webhook counted. */
async function exhaust(): Promise<void> {
  let message = await webhooks.nextMessage();
  while (isTurnToCount(message.deliveryId)) message = await webhooks.nextMessage();
  await webhooks.attemptAll(message, notingSender(failed).send);
}

/** Exhausts deliveries, one at the start of each period. */
async function exhaustEach(periodMs: number, count: number): Promise<void> {
  for (let nth = 0; nth < count; nth++) {
    const from = webhooks.clock();
    await exhaust();
    webhooks.clock.now = from + periodMs;
  }
}

/** Sends a test event to a receiver with an outcome. */
const sendTest = (outcome: object = {}) =>
  testWebhook(
    { ...webhooks, sender: notingSender(outcome).send },
    webhooks.organization,
    { webhookId: id, event: 'task.created' },
    undefined,
  );

describe('a webhook is paused', () => {
  it('after all deliveries of five days have failed, ten of them permanently', async () => {
    await exhaustEach(12 * hourMs, 10);
    expect(await get()).toMatchObject({ active: true, failingSince: at(0) });
    webhooks.clock.now = startTime + 5 * dayMs;
    const last = await webhooks.nextMessage();
    await webhooks.attemptAll(last, notingSender(failed).send);
    const webhook = await get();
    expect(webhook).toMatchObject({
      ...{ active: false, disabledReason: 'failing', disabledAt: now() },
      ...{ failingSince: at(0), lastFailureAt: now(), lastDeliveryAt: now() },
    });
    expect(webhook).not.toHaveProperty('lastSuccessAt');
    webhooks.clock.now += dayMs;
    expect(await webhooks.attempt(await webhooks.nextMessage())).toMatchObject({ posts: 0 });
  });

  it('although a clock two days ahead has checked the failures', async () => {
    await exhaustEach(12 * hourMs, 8);
    webhooks.clock.now += 2 * dayMs;
    await exhaust();
    webhooks.clock.now = startTime + 4 * dayMs;
    await exhaustEach(12 * hourMs, 2);
    expect(await get()).toMatchObject({ active: true });
    await exhaust();
    expect(await get()).toMatchObject({ active: false, failingSince: at(0) });
  });

  it('if only the attempts of recoveries fail', async () => {
    await exhaustEach(dayMs, 2);
    for (let recovery = 1; recovery <= 4; recovery++) {
      const { matched, recoveryId } = await recover(webhooks, id);
      expect(matched).toBe(2);
      const isLast = recovery === 4;
      if (isLast) webhooks.clock.now = startTime + 5 * dayMs;
      for (const { message } of await sweep(webhooks)) await webhooks.attemptAll(message, notingSender(failed).send);
      expect((await get()).active).toBe(!isLast);
      if (!isLast) await runToEnd(webhooks, id, recoveryId);
    }
    expect(await get()).toMatchObject({ disabledReason: 'failing' });
  });

  it('once, which the metric and the log line of the last attempt say', async () => {
    await exhaustEach(12 * hourMs, 10);
    let message = await webhooks.nextMessage();
    for (let attempt = 1; attempt < 4; attempt++) {
      message = await webhooks.retry(message);
      webhooks.clock.now = Date.parse(message.dueAt);
    }
    const counts = await webhooks.deliver(message, notingSender(failed).send);
    expect(counts).toEqual({ AttemptsDelivered: 0, WebhooksPaused: 1 });
  });
});

describe('a webhook stays active', () => {
  it('if fewer than ten deliveries have failed permanently', async () => {
    await exhaustEach(dayMs, 9);
    expect(await get()).toMatchObject({ active: true, failingSince: at(0) });
  });

  it('if deliveries have failed for less than five days', async () => {
    await exhaustEach(3 * hourMs, 30);
    expect(await get()).toMatchObject({ active: true, failingSince: at(0) });
  });

  it('if one attempt in five days has succeeded, from which the days and the deliveries are counted again', async () => {
    await exhaustEach(12 * hourMs, 9);
    await webhooks.attempt(await webhooks.nextMessage());
    const lastSuccessAt = now();
    webhooks.clock.now += 12 * hourMs;
    const failingSince = now();
    await exhaustEach(12 * hourMs, 9);
    expect(await get()).toMatchObject({ active: true, lastSuccessAt, failingSince });
    webhooks.clock.now = Date.parse(failingSince) + 5 * dayMs;
    await exhaust();
    expect(await get()).toMatchObject({ active: false, lastSuccessAt, failingSince });
  });

  it('if only test events have failed', async () => {
    for (let day = 0; day < 12; day++) {
      await sendTest(failed);
      webhooks.clock.now += dayMs;
    }
    await exhaust();
    expect(await get()).toMatchObject({ active: true, failingSince: at(12 * dayMs) });
  });

  it('if redeliveries have failed, which are single attempts', async () => {
    for (let day = 0; day < 12; day++) {
      const message = { ...(await webhooks.nextMessage()), redelivery: true } as const;
      await webhooks.attempt(message, failed);
      webhooks.clock.now += dayMs;
    }
    await exhaustEach(dayMs, 2);
    expect(await get()).toMatchObject({ active: true });
  });
});

describe('a webhook that was paused because it failed', () => {
  beforeEach(async () => {
    await exhaustEach(12 * hourMs, 11);
    expect(await get()).toMatchObject({ disabledReason: 'failing' });
  });

  const isResumed = async () => {
    const webhook = await get();
    expect(webhook.active).toBe(true);
    for (const field of ['disabledReason', 'disabledAt', 'failingSince']) expect(webhook).not.toHaveProperty(field);
  };

  it('is resumed by a successful test event', async () => {
    await sendTest();
    await isResumed();
    expect((await webhooks.attempt(await webhooks.nextMessage())).posts).toBe(1);
  });

  it('stays paused after a test event that fails', async () => {
    await sendTest(failed);
    expect(await get()).toMatchObject({ active: false, disabledReason: 'failing' });
  });

  it('is resumed by a caller, and is paused again only after five more days', async () => {
    await setActive(true);
    await isResumed();
    const resumedAt = webhooks.clock();
    await exhaustEach(9 * hourMs, 13);
    expect(await get()).toMatchObject({ active: true, failingSince: timestamp(resumedAt) });
    webhooks.clock.now = resumedAt + 5 * dayMs;
    await exhaust();
    expect(await get()).toMatchObject({ active: false, failingSince: timestamp(resumedAt) });
  });

  it('keeps the reason when it is changed', async () => {
    const patch = { description: 'Down' };
    const { data } = await updateWebhook(webhooks, webhooks.organization, id, patch, () => {});
    expect(data).toMatchObject({ ...patch, active: false, disabledReason: 'failing' });
    expect(await get()).toEqual(data);
  });
});

it('a successful test event does not resume a webhook that a caller has paused', async () => {
  await setActive(false);
  await sendTest();
  const webhook = await get();
  expect(webhook.active).toBe(false);
  expect(webhook).not.toHaveProperty('disabledReason');
});

it('a healthy webhook shows its last success and its last failure, and since when it fails only while it does', async () => {
  const message = await webhooks.nextMessage();
  const retry = await webhooks.retry(message);
  expect(await get()).toMatchObject({ lastFailureAt: at(0), failingSince: at(0) });
  webhooks.clock.now = Date.parse(retry.dueAt);
  await webhooks.attempt(retry);
  const webhook = await get();
  expect(webhook).toMatchObject({ lastFailureAt: at(0), lastSuccessAt: retry.dueAt });
  expect(webhook).not.toHaveProperty('failingSince');
});

describe('a check of failures costs', () => {
  /** Returns the messages of the last attempts of new deliveries, which are due now. */
  async function lastMessages(count: number): Promise<DeliveryMessage[]> {
    const messages: DeliveryMessage[] = [];
    while (messages.length < count) messages.push(await webhooks.nextMessage());
    for (let attempt = 1; attempt < 4; attempt++) {
      for (const [nth, message] of messages.entries()) messages[nth] = await webhooks.retry(message);
      webhooks.clock.now = Date.parse(messages[0]?.dueAt as string);
    }
    return messages;
  }

  it('one read and one write unit, at a last attempt that fails, and nothing again for ten minutes', async () => {
    // The first attempts of three deliveries have announced that the webhook fails.
    const [checked, again] = (await lastMessages(3)) as [DeliveryMessage, DeliveryMessage];
    const attempt = (message: DeliveryMessage) => costOf(() => webhooks.attempt(message, failed));
    const first = await attempt(checked);
    const second = await attempt(again);
    expect(first.requests - second.requests).toBe(2);
    expect(first.wcu - second.wcu).toBe(1);
    expectAtMost(second, { requests: 4, rounds: 3, rcu: 6, wcu: 3 });
  });

  it('one page of the history if the newest attempt has succeeded', async () => {
    for (let nth = 0; nth < 200; nth++) await webhooks.attempt(await webhooks.nextMessage());
    const [message] = (await lastMessages(1)) as [DeliveryMessage];
    await webhooks.attempt(await webhooks.nextMessage());
    const { rcu } = await costOf(() => webhooks.attempt(message, failed));
    expect(rcu).toBeLessThan(25);
  });
});
