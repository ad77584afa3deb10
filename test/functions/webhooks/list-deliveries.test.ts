import { beforeEach, describe, expect, it } from 'vitest';
import type { DeliveryRecord, TestResult } from '../../../lib/contract/webhooks/webhooks.ts';
import { dataOf, errorOf, paginationOf } from '../../api.ts';
import { newForEachTest } from '../../caller.ts';
import { startReceiver } from '../../sender/receiver.ts';
import { unknownEvent } from '../../values/unknown-event.ts';
import { failed } from '../../webhooks/test-webhooks.ts';
import { createWebhookCallers } from './webhook-caller.ts';

const { newWebhookCaller } = await createWebhookCallers({ ALLOWED_RECEIVERS: '127.0.0.1:*' });
const caller = newForEachTest(newWebhookCaller);
let id: string;
beforeEach(async () => {
  id = await caller.put({ secret: 'a secret' });
});

describe('the delivery history', () => {
  it('is an empty page before the first attempt', async () => {
    const pagination = { limit: 20, offset: 0, total: 0 };
    expect((await caller.deliveries(id)).body).toEqual({ success: true, data: [], pagination });
  });

  it('has a success with exactly the declared fields, and a failure with its error beside them', async () => {
    const deliveryId = await caller.attempt(id, { httpStatus: 204, durationMs: 12 });
    const record = {
      id: deliveryId,
      deliveryId,
      attempt: 1,
      event: 'task.created',
      httpStatus: 204,
      durationMs: 12,
      deliveredAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      redelivery: false,
    };
    const [success = {}] = dataOf<DeliveryRecord[]>(await caller.deliveries(id));
    expect(success).toEqual(record);
    expect(Object.keys(success)).toEqual(Object.keys(record));
    const failedId = await caller.attempt(id, failed);
    const records = dataOf<DeliveryRecord[]>(await caller.deliveries(id));
    const failure = { ...record, ...failed, id: failedId, deliveryId: failedId, durationMs: expect.any(Number) };
    expect(records.find((one) => one.id === failedId)).toEqual(failure);
  });

  it('is paged by limit and offset, with its exact total', async () => {
    await Promise.all(Array.from({ length: 3 }, () => caller.attempt(id)));
    const page = async (query: string) => {
      const answer = await caller.deliveries(id, query);
      return { ids: dataOf<DeliveryRecord[]>(answer).map((record) => record.id), ...paginationOf(answer) };
    };
    const [all, first, second] = [await page(''), await page('limit=2'), await page('limit=2&offset=2')];
    expect(all).toMatchObject({ limit: 20, offset: 0, total: 3 });
    expect(first).toEqual({ ids: all.ids.slice(0, 2), limit: 2, offset: 0, total: 3 });
    expect(second).toEqual({ ids: all.ids.slice(2), limit: 2, offset: 2, total: 3 });
    expect(await page('offset=5')).toEqual({ ids: [], limit: 20, offset: 5, total: 3 });
  });
});

describe('the filters of the history', () => {
  beforeEach(async () => {
    const { url } = await startReceiver((response) => response.writeHead(500).end());
    id = await caller.put({ url });
  });

  const ids = async (query: string) => {
    const answer = await caller.deliveries(id, query);
    return [
      dataOf<DeliveryRecord[]>(answer)
        .map((record) => record.id)
        .sort(),
      paginationOf(answer).total,
    ];
  };

  it('select by result, event and end of the attempt, with the exact number, page by page', async () => {
    const delivered = await caller.attempt(id);
    const [failure] = [await caller.attempt(id, failed)];
    const { deliveryId: tested } = dataOf<TestResult>(await caller.test(id, { event: 'agent.failed' }));
    expect(await ids('status=delivered')).toEqual([[delivered], 1]);
    expect(await ids('status=failed')).toEqual([[failure, tested].sort(), 2]);
    expect(await ids('status=failed&event=agent.failed')).toEqual([[tested], 1]);
    expect(await ids('event=task.completed')).toEqual([[], 0]);
    expect((await ids('status=failed&limit=1&offset=1'))[1]).toBe(2);
    expect(await ids('status=failed&limit=1&offset=2')).toEqual([[], 2]);

    const records = dataOf<DeliveryRecord[]>(await caller.deliveries(id));
    for (const { deliveredAt } of records) {
      const from = records.filter((record) => record.deliveredAt >= deliveredAt).map((record) => record.id);
      const to = records.filter((record) => record.deliveredAt <= deliveredAt).map((record) => record.id);
      expect(await ids(`since=${deliveredAt}`)).toEqual([from.sort(), from.length]);
      expect(await ids(`until=${deliveredAt}`)).toEqual([to.sort(), to.length]);
    }
  });

  it('tell test events from others, by `test`', async () => {
    await caller.attempt(id);
    const { deliveryId } = dataOf<TestResult>(await caller.test(id));
    const records = dataOf<DeliveryRecord[]>(await caller.deliveries(id, 'event=task.created'));
    expect(records).toHaveLength(2);
    for (const record of records) expect(record.test).toBe(record.id === deliveryId ? true : undefined);
  });

  it.each([
    ['status=exhausted', 'status', 'must be one of delivered, failed'],
    [`event=${unknownEvent}`, 'event', 'must be one of task.created'],
    ['since=yesterday', 'since', 'must be a time in ISO 8601'],
    ['until=2026-03-01', 'until', 'must be a time in ISO 8601'],
    ['since=2026-03-02T00:00:00Z&until=2026-03-01T00:00:00Z', 'since', 'must not be after until'],
  ])('reject %s', async (query, path, message) => {
    const answer = await caller.deliveries(id, query);
    expect(answer.status).toBe(400);
    expect(errorOf(answer)).toMatchObject({ code: 'validation_failed', details: [{ path, code: 'invalid_value' }] });
    expect(errorOf(answer).details?.[0]?.message).toContain(message);
  });

  it('do not find webhooks of other organizations', async () => {
    const other = await newWebhookCaller();
    expect((await other.deliveries(id, 'status=failed')).status).toBe(404);
  });
});
