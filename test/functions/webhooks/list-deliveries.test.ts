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

const fields = ['id', 'deliveryId', 'attempt', 'event', 'httpStatus', 'durationMs', 'deliveredAt', 'redelivery'];
const read = async (query = '') => dataOf<DeliveryRecord[]>(await caller.deliveries(id, query));
const attempts = (count: number) => Promise.all(Array.from({ length: count }, () => caller.attempt(id)));

describe('the delivery history', () => {
  it('is an empty page before the first attempt', async () => {
    expect((await caller.deliveries(id)).body).toEqual({
      success: true,
      data: [],
      pagination: { limit: 20, offset: 0, total: 0 },
    });
  });

  it('has a success with exactly the declared fields', async () => {
    const deliveryId = await caller.attempt(id, { httpStatus: 204, durationMs: 12 });
    const [record] = await read();
    expect(Object.keys(record ?? {})).toEqual(fields);
    expect(record).toEqual({
      id: deliveryId,
      deliveryId,
      attempt: 1,
      event: 'task.created',
      httpStatus: 204,
      durationMs: 12,
      deliveredAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      redelivery: false,
    });
  });

  it('has a failure with its error beside them', async () => {
    await caller.attempt(id, failed);
    const [record] = await read();
    expect(Object.keys(record ?? {})).toEqual([...fields, 'error']);
    expect(record).toMatchObject({ httpStatus: 500, error: 'The receiver answered 500.' });
  });

  it('is 20 a page unless it is asked otherwise, and says its exact total', async () => {
    await attempts(23);
    const answer = await caller.deliveries(id);
    expect(dataOf<DeliveryRecord[]>(answer)).toHaveLength(20);
    expect(paginationOf(answer)).toEqual({ limit: 20, offset: 0, total: 23 });
    const second = await caller.deliveries(id, 'offset=20&limit=10');
    expect(dataOf<DeliveryRecord[]>(second)).toHaveLength(3);
    expect(paginationOf(second)).toEqual({ limit: 10, offset: 20, total: 23 });
    const seen = [...dataOf<DeliveryRecord[]>(answer), ...dataOf<DeliveryRecord[]>(second)];
    expect(new Set(seen.map((record) => record.id)).size).toBe(23);
  });

  it('clamps a limit over 100, and says so', async () => {
    await attempts(101);
    const answer = await caller.deliveries(id, 'limit=101');
    expect(dataOf<DeliveryRecord[]>(answer)).toHaveLength(100);
    expect(paginationOf(answer)).toEqual({ limit: 100, offset: 0, total: 101 });
  });

  it('is an empty page with the true total past its end', async () => {
    await caller.attempt(id);
    const answer = await caller.deliveries(id, 'offset=5');
    expect([dataOf(answer), paginationOf(answer)]).toEqual([[], { limit: 20, offset: 5, total: 1 }]);
  });

  it.each(['limit=0', 'limit=-1', 'limit=1e1', 'offset=-1', 'limit=', 'limit=1&limit=2', 'event=task.created'])(
    'refuses %s',
    async (query) => {
      await caller.refuses(() => caller.deliveries(id, query), 400, 'validation_failed');
    },
  );

  it('is gone with its webhook', async () => {
    await caller.attempt(id);
    await caller.delete(id);
    await caller.refuses(() => caller.deliveries(id), 404, 'not_found');
  });
});
