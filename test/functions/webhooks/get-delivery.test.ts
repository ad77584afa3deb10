import { DeleteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { processContext } from '../../../lib/context/context.ts';
import { timeOf, timestamp, ulidFrom, ulidOf } from '../../../lib/contract/ids.ts';
import type { Delivery, DeliveryRecord, TestResult } from '../../../lib/contract/webhooks/webhooks.ts';
import { keys } from '../../../lib/table/access/keys.ts';
import { getItem } from '../../../lib/table/access/reads.ts';
import type { Item } from '../../../lib/table/access/write.ts';
import { attemptKey, timeLetters } from '../../../lib/table/deliveries/attempt-items.ts';
import { deliverWebhook } from '../../../lib/webhooks/deliveries/deliver-webhook.ts';
import { dataOf } from '../../api.ts';
import { newForEachTest } from '../../caller.ts';
import { startReceiver } from '../../sender/receiver.ts';
import { writeItems } from '../../table/tasks/seed.ts';
import { failed, notingSender } from '../../webhooks/test-webhooks.ts';
import { createWebhookCallers } from './webhook-caller.ts';

const { service, newWebhookCaller } = await createWebhookCallers({ ALLOWED_RECEIVERS: '127.0.0.1:*' });
const { table } = service;
const caller = newForEachTest(newWebhookCaller);
let id: string;
beforeEach(async () => {
  id = await caller.put();
});

const detailsOf = async (deliveryId: string, webhookId = id) => {
  const answer = await caller.delivery(webhookId, deliveryId);
  expect([answer.status, answer.body]).toMatchObject([200, { success: true }]);
  return dataOf<Delivery>(answer);
};

describe('a delivery', () => {
  it('is returned with its state, its body and its attempts', async () => {
    const response = { responseHeaders: [['X-A', 'b']] as [string, string][], responseBody: 'down' };
    const deliveryId = await caller.attempt(id, { ...failed, ...response, address: '192.0.2.7', phases: { dns: 3 } });
    const details = await detailsOf(deliveryId);
    expect(details).toMatchObject({ deliveryId, event: 'task.created', state: 'retrying' });
    expect(JSON.parse(details.body ?? '')).toMatchObject({ event: 'task.created', deliveryId, data: {} });
    const { address, phases, requestHeaders, responseHeaders, responseBody, truncated, ...record } =
      details.attempts[0] ?? expect.fail('there is no attempt');
    expect([record]).toEqual(dataOf<DeliveryRecord[]>(await caller.deliveries(id)));
    expect([address, phases, responseHeaders]).toEqual(['192.0.2.7', { dns: 3 }, { 'x-a': 'b' }]);
    expect([responseBody, truncated]).toEqual(['down', false]);
    expect(requestHeaders).toMatchObject({ Host: 'example.com', 'X-Service-Delivery': deliveryId });
  });

  it('of a test event is returned, which is over when it is made', async () => {
    const { url, received } = await startReceiver((response) => response.end('thanks'));
    const tested = await caller.put({ url, secret: 'a secret' });
    const { deliveryId } = dataOf<TestResult>(await caller.test(tested));
    const details = await detailsOf(deliveryId, tested);
    expect(details).toMatchObject({ test: true, state: 'delivered', attempts: [{ responseBody: 'thanks' }] });
    expect(details.body).toBe(received[0]?.raw.toString('utf8'));
    expect(JSON.stringify(details)).not.toMatch(/signature|sha256=|a secret/i);
  });

  it('whose event is no longer stored is returned without its body', async () => {
    const deliveryId = await caller.attempt(id);
    const { eventId = '' } = await detailsOf(deliveryId);
    await table.client.send(
      new DeleteCommand({ TableName: table.name, Key: keys.event(caller.organization, ulidOf(eventId)) }),
    );
    const details = await detailsOf(deliveryId);
    expect(details).toMatchObject({ eventId, state: 'delivered', body: null, attempts: [{ responseBody: '' }] });
    expect(details.attempts[0]?.requestHeaders).not.toHaveProperty('Content-Length');
  });
});

describe('an attempt of an earlier version', () => {
  const unknown = { requestHeaders: null, responseHeaders: null, responseBody: null };

  it('has neither headers nor bodies', async () => {
    const deliveryId = await caller.attempt(id, failed);
    const at = timestamp(timeOf(ulidOf(deliveryId)));
    const Key = attemptKey({ organization: caller.organization, webhookId: id, deliveryId, attempt: 1, at });
    await table.client.send(new UpdateCommand({ TableName: table.name, Key, UpdateExpression: 'REMOVE sent' }));
    const details = await detailsOf(deliveryId);
    expect(details).toMatchObject({ state: 'retrying', body: null, nextAttemptAt: expect.any(String) });
    expect(details.attempts).toEqual([{ ...dataOf<DeliveryRecord[]>(await caller.deliveries(id))[0], ...unknown }]);
  });

  it('of a test event is found a few milliseconds before the time of its id', async () => {
    const { url } = await startReceiver();
    const tested = await caller.put({ url });
    const { deliveryId } = dataOf<TestResult>(await caller.test(tested));
    const time = timeOf(ulidOf(deliveryId));
    const place = { organization: caller.organization, webhookId: tested, deliveryId, attempt: 1 };
    const Key = attemptKey({ ...place, at: timestamp(time) });
    const { sent, data, ...row } = (await getItem(table, Key)) as Item;
    await table.client.send(new DeleteCommand({ TableName: table.name, Key }));
    await writeItems(table, [{ ...row, ...attemptKey({ ...place, at: timestamp(time - 4) }) }]);
    expect(await detailsOf(deliveryId, tested)).toMatchObject({
      ...{ deliveryId, test: true, state: 'delivered', body: null },
      attempts: [{ httpStatus: 204, ...unknown }],
    });
  });

  /** Writes a delivery as the version before the attempt log did: two attempts failed, and the third is due. */
  async function writeOldDelivery(state: 'retrying' | 'exhausted') {
    const begun = processContext().clock() - 60_000;
    const ulid = ulidFrom(begun, new Uint8Array(10).fill(7));
    const { rows: pk } = keys.attemptScope(caller.organization, ulidOf(id));
    const data = JSON.stringify({
      task: { id: `tk_${ulid}`, title: 'Old', status: 'backlog' },
      occurredAt: timestamp(begun),
    });
    const deliveryId = `dlv_${ulid}`;
    const row = (attempt: number) => ({
      ...{ pk, sk: `*#${timeLetters(begun + attempt * 1_000)}${ulid}`, id: deliveryId, deliveryId, attempt },
      ...{ event: 'task.created', durationMs: 1, deliveredAt: timestamp(begun + attempt * 1_000) },
      ...{ redelivery: attempt > 1, httpStatus: 500, error: 'The receiver answered 500.' },
    });
    const nextAttemptAt = timestamp(begun + 30_000);
    const item = { ...keys.oldDelivery(caller.organization, ulidOf(id), ulid), id: deliveryId, event: 'task.created' };
    await writeItems(table, [{ ...item, data, state, attempt: 3, nextAttemptAt }, row(1), row(2)]);
    return { deliveryId, nextAttemptAt };
  }

  it('before the attempt log is returned with those that this version has added', async () => {
    const { deliveryId, nextAttemptAt } = await writeOldDelivery('retrying');
    const before = await detailsOf(deliveryId);
    expect(before).toMatchObject({ deliveryId, event: 'task.created', state: 'retrying', nextAttemptAt, body: null });
    expect(before.attempts).toMatchObject([
      { attempt: 1, ...unknown },
      { attempt: 2, ...unknown },
    ]);
    const { posts, send: sender } = notingSender();
    const message = { organization: caller.organization, webhookId: id, deliveryId, attempt: 3, dueAt: nextAttemptAt };
    await deliverWebhook({ ...processContext(), sender }, message);
    const after = await detailsOf(deliveryId);
    expect(after).toMatchObject({ state: 'delivered', body: posts[0]?.body });
    expect(after.attempts.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
  });

  it('before the attempt log is the last one of an exhausted delivery', async () => {
    const { deliveryId } = await writeOldDelivery('exhausted');
    const details = await detailsOf(deliveryId);
    expect(details).toMatchObject({ state: 'exhausted', attempts: [{ attempt: 1 }, { attempt: 2 }] });
    expect(details).not.toHaveProperty('nextAttemptAt');
  });
});

describe('404 not_found', () => {
  const absent = (webhookId: string, deliveryId: string) =>
    caller.refuses(() => caller.delivery(webhookId, deliveryId), 404, 'not_found');

  it('for the id of an attempt after the first', async () => {
    const deliveryId = await caller.attempt(id);
    const time = timeOf(ulidOf(deliveryId)) + 1;
    await absent(id, `dlv_${timeLetters(time)}${ulidOf(deliveryId).slice(10)}`);
  });
});

it('403 for a token without webhooks:read', async () => {
  const writer = await newWebhookCaller(['webhooks:write']);
  await writer.refuses(() => writer.delivery(id, `dlv_${ulidOf(id)}`), 403, 'insufficient_scope');
});
