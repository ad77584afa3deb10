import { beforeEach, expect, it } from 'vitest';
import { timestamp } from '../../../lib/contract/ids.ts';
import type { DeliveryMessage } from '../../../lib/names/messages.ts';
import { readDelivery, readDeliveryRows } from '../../../lib/table/recoveries/delivery-rows.ts';
import { failed, notingSender, prepareTestWebhooks, type TestWebhooks } from '../../webhooks/test-webhooks.ts';

const createTestWebhooks = await prepareTestWebhooks();
let webhooks: TestWebhooks;
let deliveries: DeliveryMessage[];

// Delivered, failed permanently, failed with a retry, and without an attempt.
beforeEach(async () => {
  webhooks = createTestWebhooks();
  await webhooks.register();
  const from = webhooks.clock();
  deliveries = [];
  for (let nth = 0; nth < 4; nth++) {
    deliveries.push(await webhooks.nextMessage());
    webhooks.clock.now += 1_000;
  }
  const [delivered, exhausted, retrying] = deliveries as [DeliveryMessage, DeliveryMessage, DeliveryMessage];
  await webhooks.attempt(delivered);
  await webhooks.attempt(retrying, failed);
  await webhooks.attemptAll(exhausted, notingSender(failed).send);
  expect(timestamp(from)).toBe(delivered.dueAt);
});

const hour = 3_600_000;

it.each<[string, { aheadMs?: number; limit?: number }]>([
  ['the rows of retries are read one by one', {}],
  ['all rows are read in advance', { aheadMs: 3 * hour }],
  ['some rows are read in advance', { aheadMs: hour / 2 }],
  ['the range has more rows than are read in advance', { aheadMs: 3 * hour, limit: 4 }],
  ['the range has more first rows than are read in advance', { limit: 1 }],
  ['the range has as many rows as are read in advance', { aheadMs: 3 * hour, limit: 6 }],
])('deliveries have the same attempts when %s', async (_, ahead) => {
  const [first] = deliveries as [DeliveryMessage];
  const { organization } = webhooks;
  const from = Date.parse(first.dueAt);
  const range = { from, to: from + 3_000, ...ahead };
  const found = await readDeliveryRows(webhooks, organization, first.webhookId, range);
  const read = await Promise.all(deliveries.map((message) => readDelivery(webhooks, found, message)));
  expect(read.map(({ rows, next }) => [rows.map(({ attempt }) => attempt), next?.attempt])).toEqual([
    [[1], undefined],
    [[1, 2, 3, 4], undefined],
    [[1], 2],
    [[], 1],
  ]);
});
