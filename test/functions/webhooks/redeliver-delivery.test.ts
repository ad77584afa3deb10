import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { beforeEach, describe, expect, it } from 'vitest';
import type { QueueSender } from '../../../lib/aws/queue.ts';
import { processContext } from '../../../lib/context/context.ts';
import { timestamp, ulidOf } from '../../../lib/contract/ids.ts';
import type { DeliveryRecord, TestResult } from '../../../lib/contract/webhooks/webhooks.ts';
import { DeliveryMessage } from '../../../lib/names/messages.ts';
import { keys } from '../../../lib/table/access/keys.ts';
import { queryItems } from '../../../lib/table/access/reads.ts';
import { deliveryIdOf } from '../../../lib/webhooks/attempts/derived-ids.ts';
import { deliverWebhook } from '../../../lib/webhooks/deliveries/deliver-webhook.ts';
import { publishEvents } from '../../../lib/webhooks/deliveries/publish-events.ts';
import { sweepDeliveries } from '../../../lib/webhooks/deliveries/sweep.ts';
import { dataOf } from '../../api.ts';
import { newForEachTest } from '../../caller.ts';
import { startReceiver } from '../../sender/receiver.ts';
import { failed, notingSender } from '../../webhooks/test-webhooks.ts';
import { createWebhookCallers } from './webhook-caller.ts';

const { service, newWebhookCaller } = await createWebhookCallers({ ALLOWED_RECEIVERS: '127.0.0.1:*' });
const caller = newForEachTest(newWebhookCaller);
let id: string;
beforeEach(async () => {
  id = await caller.put();
});

/** Sweeps, makes the attempts whose messages the sweep sends, and returns the posts of the organization. */
async function sweepAndDeliver() {
  const sent: DeliveryMessage[] = [];
  const queue: QueueSender = async (messages) =>
    void sent.push(...messages.map(({ message }) => v.parse(DeliveryMessage, message)));
  const context = processContext();
  await sweepDeliveries({ ...context, queues: new Map([['deliveries', queue]]) }, { until: context.clock() });
  const { posts, send: sender } = notingSender();
  for (const message of sent.filter(({ organization }) => organization === caller.organization))
    await deliverWebhook({ ...context, sender }, message);
  return posts;
}

/** Deletes the events of the organization, as their expiry does. */
async function deleteEvents() {
  const { table } = service;
  for await (const { pk, sk } of queryItems(table, { pk: keys.events(caller.organization) }))
    await table.client.send(new DeleteCommand({ TableName: table.name, Key: { pk, sk } }));
}

describe('a redelivery', () => {
  it('of a delivered delivery answers 200, and makes one more attempt with the same delivery id', async () => {
    const deliveryId = await caller.attempt(id);
    const answer = await caller.redeliver(id, deliveryId);
    expect([answer.status, answer.body]).toEqual([
      200,
      { success: true, data: { deliveryId, state: 'pending', attempt: 2 } },
    ]);
    expect(await sweepAndDeliver()).toMatchObject([{ headers: { 'X-Service-Delivery': deliveryId } }]);
    expect(dataOf<DeliveryRecord[]>(await caller.deliveries(id))).toMatchObject([
      { deliveryId, attempt: 2, redelivery: true, httpStatus: 204 },
      { deliveryId, attempt: 1, redelivery: false, httpStatus: 204 },
    ]);
    expect(await sweepAndDeliver()).toEqual([]);
  });

  it('that is requested again with the same key is made once', async () => {
    const deliveryId = await caller.attempt(id);
    const headers = { 'Idempotency-Key': 'once' };
    const first = await caller.redeliver(id, deliveryId, { headers });
    const again = await caller.redeliver(id, deliveryId, { headers });
    expect([again.status, again.body]).toEqual([200, first.body]);
    expect(await sweepAndDeliver()).toHaveLength(1);
    expect((await caller.redeliver(id, deliveryId, { headers })).body).toEqual(first.body);
    expect(await sweepAndDeliver()).toEqual([]);
  });
});

describe('409 delivery_in_progress, and nothing is changed,', () => {
  const inProgress = (deliveryId: string) =>
    caller.refuses(() => caller.redeliver(id, deliveryId), 409, 'delivery_in_progress');

  it('before the first attempt', async () => {
    const { organization } = caller;
    const context = processContext();
    const changedAt = context.clock();
    const item = `tk_${context.ulid()}`;
    const event = 'task.created' as const;
    const task = { id: item, title: 'A task', status: 'backlog' as const };
    const data = { task, occurredAt: timestamp(changedAt) };
    await publishEvents(context, { organization, item, version: 1, events: [{ event, data }] });
    await inProgress(deliveryIdOf(changedAt, { item, version: 1, event, webhookId: id }));
  });

  it('while a retry is due', async () => inProgress(await caller.attempt(id, failed)));

  it('while a redelivery is due', async () => {
    const deliveryId = await caller.attempt(id);
    expect((await caller.redeliver(id, deliveryId)).status).toBe(200);
    await inProgress(deliveryId);
  });
});

it('409 webhook_paused while the webhook is paused, and nothing is changed', async () => {
  const deliveryId = await caller.attempt(id);
  await caller.edit(id, { active: false });
  const { message } = await caller.refuses(() => caller.redeliver(id, deliveryId), 409, 'webhook_paused');
  expect(message).toBe('The webhook is paused; resume it first, with active: true.');
  await caller.edit(id, { active: true });
  expect((await caller.redeliver(id, deliveryId)).status).toBe(200);
});

describe('404 not_found, and nothing is changed,', () => {
  const absent = (webhookId: string, deliveryId: string) =>
    caller.refuses(() => caller.redeliver(webhookId, deliveryId), 404, 'not_found');

  it('for the id of an attempt after the first', async () => {
    await caller.redeliver(id, await caller.attempt(id));
    await sweepAndDeliver();
    const [second] = dataOf<[DeliveryRecord]>(await caller.deliveries(id));
    expect(second.id).not.toBe(second.deliveryId);
    await absent(id, second.id);
  });

  it('for a test event', async () => {
    const { url } = await startReceiver();
    const tested = await caller.put({ url });
    await absent(tested, dataOf<TestResult>(await caller.test(tested)).deliveryId);
  });

  it('for an event that is no longer stored', async () => {
    const deliveryId = await caller.attempt(id);
    await deleteEvents();
    await absent(id, deliveryId);
  });
});

it('403 for a token without webhooks:write', async () => {
  const reader = await newWebhookCaller(['webhooks:read']);
  await reader.refuses(() => reader.redeliver(id, `dlv_${ulidOf(id)}`), 403, 'insufficient_scope');
});
