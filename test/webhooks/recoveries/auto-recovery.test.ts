import { beforeEach, describe, expect, it } from 'vitest';
import type { DeliveryMessage } from '../../../lib/names/messages.ts';
import { readAutoRecovery } from '../../../lib/table/recoveries/auto-recoveries.ts';
import { carryOut } from '../../../lib/webhooks/orders/carry-out.ts';
import { listRecoveries } from '../../../lib/webhooks/recoveries/recovery.ts';
import { updateWebhook } from '../../../lib/webhooks/webhooks.ts';
import { failed, prepareTestWebhooks, type TestWebhooks } from '../test-webhooks.ts';
import { exhaustAll, recover, runToEnd, sweep } from './test-recoveries.ts';

const minuteMs = 60_000;
let webhooks: TestWebhooks;
let id: string;

beforeEach(async () => {
  webhooks = (await prepareTestWebhooks())();
  id = (await webhooks.register({ autoRecover: true })).id;
});

const change = (fields: object) => updateWebhook(webhooks, webhooks.organization, id, fields, () => {});

/** Publishes events whose first attempts fail, one each ten seconds. */
async function fail(events: number): Promise<DeliveryMessage[]> {
  const messages: DeliveryMessage[] = [];
  for (let nth = 0; nth < events; nth++) {
    const message = await webhooks.nextMessage();
    await webhooks.attempt(message, failed);
    messages.push(message);
    webhooks.clock.now += 10_000;
  }
  return messages;
}

/** Publishes an event that is delivered. */
async function succeed(): Promise<void> {
  webhooks.clock.now += 1_000;
  await webhooks.attempt(await webhooks.nextMessage());
}

const recoveries = async () =>
  (await listRecoveries(webhooks, webhooks.organization, id, { limit: 10, offset: 0 })).items;

const order = () =>
  carryOut(webhooks, { organization: webhooks.organization, webhookId: id, order: { kind: 'auto-recovery' } });

/** Makes all attempts of the recovery that the service begins by itself now, and returns their deliveries. */
async function recovered(): Promise<string[]> {
  const before = (await recoveries()).length;
  await order();
  const all = await recoveries();
  if (all.length === before) return [];
  return (await runToEnd(webhooks, id, all[0]?.id)).map(({ deliveryId }) => deliveryId);
}

const idsOf = (messages: readonly DeliveryMessage[]) => messages.map(({ deliveryId }) => deliveryId);

describe('a webhook with autoRecover gets what it has missed', () => {
  it('after the first success, from the first failed attempt on, also what failed just before', async () => {
    const messages = await fail(4);
    await succeed();
    expect((await recovered()).toSorted()).toEqual(idsOf(messages).toSorted());
    expect(await recoveries()).toMatchObject([{ auto: true, state: 'completed', delivered: 4, failed: 0 }]);
  });

  it('when it is resumed: events of the pause, and what failed before it', async () => {
    const messages = await fail(3);
    await change({ active: false });
    webhooks.clock.now += minuteMs;
    for (let nth = 0; nth < 2; nth++) messages.push(await webhooks.nextMessage());
    webhooks.clock.now += 2 * minuteMs;
    await change({ active: true });
    expect((await recovered()).toSorted()).toEqual(idsOf(messages).toSorted());
  });

  it('although the worker that begins the recovery is lost: the sweeper finds it', async () => {
    const messages = await fail(3);
    await succeed();
    await sweep(webhooks);
    const [recovery] = await recoveries();
    await runToEnd(webhooks, id, recovery?.id);
    expect(await recoveries()).toMatchObject([{ state: 'completed', delivered: messages.length }]);
  });

  it('once, although it was begun by several workers', async () => {
    const messages = await fail(3);
    await succeed();
    await Promise.all([order(), order(), order()]);
    const [recovery, ...others] = await recoveries();
    expect(others).toEqual([]);
    expect((await runToEnd(webhooks, id, recovery?.id)).length).toBe(messages.length);
    await order();
    expect(await recoveries()).toHaveLength(1);
  });
});

describe('a webhook with autoRecover does not get', () => {
  it('what it has missed before', async () => {
    const [old] = await exhaustAll(webhooks, 1);
    await succeed();
    await recovered();
    webhooks.clock.now += 20 * minuteMs;
    await change({ autoRecover: false });
    const [missed] = await exhaustAll(webhooks, 1);
    await succeed();
    await change({ autoRecover: true });
    webhooks.clock.now += 20 * minuteMs;
    const messages = await fail(3);
    await succeed();
    const made = await recovered();
    expect(made.toSorted()).toEqual(idsOf(messages).toSorted());
    expect(made).not.toContain(old?.deliveryId);
    expect(made).not.toContain(missed?.deliveryId);
  });

  it('anything after two failures, which are retried anyway', async () => {
    await fail(2);
    await succeed();
    expect(await recovered()).toEqual([]);
  });

  it('anything if autoRecover is turned off in the meantime', async () => {
    await fail(3);
    await succeed();
    await change({ autoRecover: false });
    expect(await recovered()).toEqual([]);
    expect(await readAutoRecovery(webhooks, webhooks.organization, id)).toBeUndefined();
  });

  it('anything while it is paused, and all of it when it is resumed', async () => {
    const messages = await fail(3);
    await succeed();
    await change({ active: false });
    expect(await recovered()).toEqual([]);
    webhooks.clock.now += 2 * minuteMs;
    await change({ active: true });
    // Its item is not new, so that the stream does not have it.
    const release = { kind: 'release' as const, version: 3 };
    await carryOut(webhooks, { organization: webhooks.organization, webhookId: id, order: release });
    const [recovery, ...others] = await recoveries();
    expect(others).toEqual([]);
    const made = await runToEnd(webhooks, id, recovery?.id);
    expect(idsOf(made as never).toSorted()).toEqual(idsOf(messages).toSorted());
  });
});

describe('a further recovery by itself', () => {
  it('waits until ten minutes after the beginning of the one before, and takes all that was missed since then', async () => {
    const first = await fail(3);
    await succeed();
    const begunAt = webhooks.clock();
    expect(await recovered()).toHaveLength(first.length);
    const messages: DeliveryMessage[] = [];
    for (let flap = 0; flap < 2; flap++) {
      messages.push(...(await fail(3)));
      await succeed();
    }
    expect(await recovered()).toEqual([]);
    const waits = webhooks.queue.orders.at(-1);
    expect(waits?.message).toMatchObject({ order: { kind: 'auto-recovery' } });
    expect(webhooks.clock() + (waits?.delaySeconds ?? 0) * 1_000).toBeLessThanOrEqual(begunAt + 10 * minuteMs + 1_000);
    webhooks.clock.now = begunAt + 10 * minuteMs;
    const made = await recovered();
    expect(new Set(made)).toEqual(new Set(idsOf(messages)));
  });

  it('waits for the end of another recovery', async () => {
    await exhaustAll(webhooks, 1);
    webhooks.clock.now += minuteMs;
    const { recoveryId } = await recover(webhooks, id);
    const messages = await fail(3);
    await succeed();
    expect(await recovered()).toEqual([]);
    await runToEnd(webhooks, id, recoveryId);
    const made = await recovered();
    expect(made.filter((one) => idsOf(messages).includes(one))).toHaveLength(3);
  });
});

describe('webhook.recovered', () => {
  const events = async () => webhooks.ownEvents();

  it('has no notRecovered if everything is recovered', async () => {
    await fail(3);
    await succeed();
    expect((await events()).at(-1)).toMatchObject({ event: 'webhook.recovered' });
    expect((await events()).at(-1)?.data).not.toHaveProperty('notRecovered');
  });

  it('says how many missed events are older than seven days, and these are not sent', async () => {
    await exhaustAll(webhooks, 3);
    webhooks.clock.now += 8 * 24 * 60 * minuteMs;
    const messages = await fail(2);
    await succeed();
    expect((await events()).at(-1)).toMatchObject({ event: 'webhook.recovered', data: { notRecovered: 3 } });
    expect((await recovered()).toSorted()).toEqual(idsOf(messages).toSorted());
  });
});
