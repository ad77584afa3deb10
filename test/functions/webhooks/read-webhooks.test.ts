import { describe, expect, it } from 'vitest';
import type { Webhook } from '../../../lib/contract/webhooks.ts';
import { dataOf, errorOf } from '../../api.ts';
import { newForEachTest } from '../../caller.ts';
import { createWebhookCallers, newWebhook } from './webhook-caller.ts';

const { newWebhookCaller } = await createWebhookCallers();
const caller = newForEachTest(newWebhookCaller);

const fields = ['id', 'url', 'events', 'signed', 'active', 'createdAt'];
const all = async () => dataOf<Webhook[]>(await caller.list());
const absent = 'wh_01K00000000000000000000000';

/** Expects a webhook to be absent for every operation. */
async function expectNotFound(id: string) {
  for (const send of [caller.get, caller.deliveries, caller.delete])
    await caller.refuses(() => send(id), 404, 'not_found');
}

describe('the list of webhooks', () => {
  it("is empty before the first registration, is not paged, and has nothing of another organization's", async () => {
    await (await newWebhookCaller()).put();
    expect((await caller.list()).body).toEqual({ success: true, data: [] });
  });
});

describe('a webhook', () => {
  it('is listed and read with exactly the declared fields', async () => {
    const registered = dataOf<Webhook>(await caller.register({ ...newWebhook, secret: 'a secret' }));
    const read = { ...registered, signed: true, secretChangedAt: registered.createdAt };
    expect((await caller.list()).body).toEqual({ success: true, data: [read] });
    const answer = await caller.get(registered.id);
    expect([answer.status, answer.body]).toEqual([200, { success: true, data: read }]);
    for (const webhook of [...(await all()), dataOf(answer)])
      expect(Object.keys(webhook)).toEqual(fields.toSpliced(4, 0, 'secretChangedAt'));
  });

  it('has lastDeliveryAt beside them once something was sent, in the list and in the single read', async () => {
    const id = await caller.put();
    const now = Date.now();
    await caller.attempt(id);
    const read = dataOf<Webhook>(await caller.get(id));
    expect(Object.keys(read)).toEqual([...fields.slice(0, -1), 'lastDeliveryAt', 'lastSuccessAt', 'createdAt']);
    expect(Date.parse(read.lastDeliveryAt ?? '')).toBeGreaterThanOrEqual(now);
    const { lastSuccessAt: _, ...listed } = read;
    expect(await all()).toEqual([listed]);
    expect(dataOf(await caller.list({ query: 'include=health' }))).toEqual([read]);
    const send = () => caller.list({ query: 'include=secret' });
    const error = await caller.refuses(send, 400, 'validation_failed');
    expect(error.details).toMatchObject([{ path: 'include', code: 'invalid_value' }]);
  });

  it("of another organization's is answered as one that there is not", async () => {
    const other = await newWebhookCaller();
    const id = await other.put();
    const [theirs, nobodys] = [errorOf(await caller.get(id)), errorOf(await caller.get(absent))];
    expect({ ...theirs, requestId: '' }).toEqual({ ...nobodys, requestId: '' });
    for (const one of [id, absent]) await expectNotFound(one);
    expect((await other.get(id)).status).toBe(200);
  });
});

it('deleting a webhook answers success and nothing else, and takes it from every read at once', async () => {
  const [id, other] = [await caller.put({ secret: 'a secret' }), await caller.put()];
  await caller.attempt(id);
  const answer = await caller.delete(id);
  expect([answer.status, answer.body]).toEqual([200, { success: true }]);
  expect((await all()).map((webhook) => webhook.id)).toEqual([other]);
  await expectNotFound(id);
});
