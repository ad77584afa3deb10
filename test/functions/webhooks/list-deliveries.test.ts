import { beforeEach, describe, expect, it } from 'vitest';
import type { DeliveryRecord } from '../../../lib/contract/webhooks.ts';
import { dataOf, paginationOf } from '../../api.ts';
import { failed } from '../../webhooks/test-webhooks.ts';
import { createWebhookCallers, type WebhookCaller } from './webhook-caller.ts';

const { newWebhookCaller } = await createWebhookCallers();
let caller: WebhookCaller;
let id: string;

beforeEach(async () => {
  caller = await newWebhookCaller();
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
