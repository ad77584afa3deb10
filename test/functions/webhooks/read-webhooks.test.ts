import { describe, expect, it } from 'vitest';
import type { Webhook, WebhookDetail } from '../../../lib/contract/webhooks/webhooks.ts';
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
    const { lastSuccessAt, ...listed } = read;
    expect(await all()).toEqual([listed]);
    expect(dataOf(await caller.list({ query: 'include=health' }))).toEqual([read]);
    const send = () => caller.list({ query: 'include=secret' });
    const error = await caller.refuses(send, 400, 'validation_failed');
    expect(error.details).toMatchObject([{ path: 'include', code: 'invalid_value' }]);
  });

  it('has the attempts of the last 24 hours by status, if asked for, and no attempt of another webhook', async () => {
    const [id, other] = [await caller.put(), await caller.put()];
    const before = dataOf<WebhookDetail>(await caller.get(id));
    for (const httpStatus of [200, 302, 404, 404, 503, 0])
      await caller.attempt(id, { httpStatus, ...(httpStatus !== 200 && { error: 'It failed.' }) });
    const read = async (of: string) => {
      const { hours = [], ...webhook } = dataOf<WebhookDetail>(await caller.getHours(of));
      // The hour can end during the test.
      const numbers = hours.flatMap(({ startsAt, ...counts }) => Object.entries(counts));
      const sum = (name: string) => numbers.reduce((total, [of, number]) => total + (of === name ? number : 0), 0);
      const names = ['status2xx', 'status3xx', 'status4xx', 'status5xx', 'noResponse'];
      return { webhook, starts: hours.map(({ startsAt }) => startsAt), sums: names.map(sum) };
    };
    const { webhook, starts, sums } = await read(id);
    expect(sums).toEqual([1, 1, 2, 1, 1]);
    expect((await read(other)).sums).toEqual([0, 0, 0, 0, 0]);
    expect(webhook).toEqual(dataOf(await caller.get(id)));
    expect(before).not.toHaveProperty('hours');
    const hour = (hoursAgo: number) => new Date(Date.parse(starts[23] as string) - hoursAgo * 3_600_000).toISOString();
    expect(starts).toEqual(Array.from({ length: 24 }, (_, at) => hour(23 - at)));
    expect(Date.now() - Date.parse(hour(0))).toBeLessThan(3_600_000 + 60_000);
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
