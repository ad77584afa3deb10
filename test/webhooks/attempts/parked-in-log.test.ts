import { DeleteCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { timestamp, ulidOf } from '../../../lib/contract/ids.ts';
import type { WebhookPatch } from '../../../lib/contract/webhooks/webhooks.ts';
import type { DeliveryMessage } from '../../../lib/names/messages.ts';
import { keys } from '../../../lib/table/access/keys.ts';
import { getItem } from '../../../lib/table/access/reads.ts';
import { readParkedAttempts } from '../../../lib/table/deliveries/parked-attempts.ts';
import { takePermits } from '../../../lib/table/webhooks/webhook-attempts.ts';
import { compareDeliveries } from '../../../lib/webhooks/deliveries/compare-deliveries.ts';
import { sweepDeliveries } from '../../../lib/webhooks/deliveries/sweep.ts';
import { deleteWebhook, updateWebhook } from '../../../lib/webhooks/webhooks.ts';
import { prepareTestWebhooks, startTime, type TestWebhooks } from '../test-webhooks.ts';

/** What version 0.2.0 has parked is in the partition of the attempt log. */

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
let webhooks: TestWebhooks;
let id: string;

// A sweep is over the whole table, so each test has one of its own.
beforeEach(async () => {
  webhooks = (await prepareTestWebhooks())();
  ({ id } = await webhooks.register({ maxPerSecond: 1 }));
});

const update = (patch: WebhookPatch) => updateWebhook(webhooks, webhooks.organization, id, patch, () => {});
const parked = () => Array.fromAsync(readParkedAttempts(webhooks, webhooks.organization, id));
/** Returns the keys of the parked attempts, of which those in the log have no `#WP#`. */
const places = async () => (await parked()).map(({ key }) => (key.pk.includes('#WP#') ? 'own' : 'log'));

async function sweepAfter(ms: number): Promise<DeliveryMessage[]> {
  webhooks.clock.now += ms;
  const before = webhooks.queue.sent.length;
  await sweepDeliveries(webhooks, { until: webhooks.clock() });
  return webhooks.queue.sent.slice(before).map(({ message }) => message);
}

/** Takes the permits of the next 20 seconds, so that an attempt books a time and waits as an item. */
const takeAll = () =>
  takePermits(webhooks, webhooks.organization, id, {
    ...{ count: 20, maxPerSecond: 1, pacedMs: 1_000, aheadMs: 0, longestMs: minuteMs, now: webhooks.clock() },
  });

/** Moves the parked attempts to where version 0.2.0 has them. */
async function moveToLog(): Promise<void> {
  const { table, organization } = webhooks;
  for (const { key, message } of await parked()) {
    const { deliveryId, attempt } = message;
    const inLog = keys.parkedAttempt(organization, ulidOf(id), { delivery: ulidOf(deliveryId), attempt });
    const item = { ...(await getItem(table, key)), ...inLog };
    await table.client.send(new PutCommand({ TableName: table.name, Item: item }));
    await table.client.send(new DeleteCommand({ TableName: table.name, Key: key }));
  }
  expect(await places()).toEqual(['log']);
}

/** Parks the first attempt of an event in a pause, as version 0.2.0 did. */
async function parkInPause(): Promise<DeliveryMessage> {
  const message = await webhooks.nextMessage();
  webhooks.clock.now += 1;
  await update({ active: false });
  await webhooks.attempt(message);
  await moveToLog();
  return message;
}

/** Lets an attempt book a time, as version 0.2.0 did, and returns the message that waits. */
async function book(): Promise<DeliveryMessage> {
  await takeAll();
  const { sent } = await webhooks.attempt(await webhooks.nextMessage());
  await moveToLog();
  return sent[0]?.message as DeliveryMessage;
}

describe('an attempt that version 0.2.0 has parked in a pause', () => {
  it('is sent after the pause and made once, and its item is removed', async () => {
    const { deliveryId } = await parkInPause();
    await update({ active: true });
    const [message] = (await sweepAfter(dayMs)) as [DeliveryMessage];
    expect(message).toMatchObject({ deliveryId, parkedInLog: true });
    expect(await webhooks.attempt(message)).toMatchObject({ posts: 1, sent: [] });
    expect(await parked()).toEqual([]);
    expect(await sweepAfter(dayMs)).toEqual([]);
  });

  it('moves when it is parked in another pause', async () => {
    await parkInPause();
    await update({ active: true });
    const [message] = (await sweepAfter(minuteMs)) as [DeliveryMessage];
    webhooks.clock.now += 1;
    await update({ active: false });
    expect((await webhooks.attempt(message)).posts).toBe(0);
    expect(await places()).toEqual(['own']);
    await update({ active: true });
    const [again] = (await sweepAfter(minuteMs)) as [DeliveryMessage];
    expect((await webhooks.attempt(again)).posts).toBe(1);
    expect(await parked()).toEqual([]);
  });

  it('moves when it books a time after the pause', async () => {
    await parkInPause();
    await update({ active: true });
    const [message] = (await sweepAfter(dayMs)) as [DeliveryMessage];
    await takeAll();
    const { posts, sent } = await webhooks.attempt(message);
    expect([posts, await places()]).toEqual([0, ['own']]);
    webhooks.clock.now += 30_000;
    expect((await webhooks.attempt(sent[0]?.message as DeliveryMessage)).posts).toBe(1);
    expect(await parked()).toEqual([]);
  });

  it('is not taken for lost while the pause lasts', async () => {
    await parkInPause();
    expect(await sweepAfter(dayMs)).toEqual([]);
    const range = { from: startTime, to: webhooks.clock(), now: webhooks.clock() };
    expect(await compareDeliveries(webhooks, webhooks.organization, range)).toMatchObject({ lost: [] });
    expect(await places()).toEqual(['log']);
  });

  it('is removed after the deletion of its webhook', async () => {
    await parkInPause();
    await deleteWebhook(webhooks, webhooks.organization, id, () => {});
    expect(await sweepAfter(minuteMs)).toEqual([]);
    expect(await parked()).toEqual([]);
  });
});

describe('an attempt that has booked a time with version 0.2.0', () => {
  it('is made at that time, and its item is removed when the sweeper finds it', async () => {
    const message = await book();
    webhooks.clock.now = Date.parse(message.bookedAt as string);
    expect((await webhooks.attempt(message)).posts).toBe(1);
    const [again] = (await sweepAfter(2 * minuteMs)) as [DeliveryMessage];
    expect(await webhooks.attempt(again)).toEqual({ posts: 0, sent: [] });
    expect(await parked()).toEqual([]);
  });

  it('is made although its message is lost', async () => {
    const { bookedAt } = await book();
    webhooks.clock.now = Date.parse(bookedAt as string);
    const [message] = (await sweepAfter(2 * minuteMs)) as [DeliveryMessage];
    expect(message).toMatchObject({ bookedAt: timestamp(Date.parse(bookedAt as string)), parkedInLog: true });
    expect((await webhooks.attempt(message)).posts).toBe(1);
    expect(await parked()).toEqual([]);
  });
});
