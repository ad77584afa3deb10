import { beforeEach, describe, expect, it } from 'vitest';
import type { DeliveryMessage } from '../../lib/deployment/messages.ts';
import { listDeliveries } from '../../lib/webhooks/webhooks.ts';
import { failed, notingSender, prepareTestWebhooks, type TestWebhooks } from './test-webhooks.ts';

const createTestWebhooks = await prepareTestWebhooks();
const dayMs = 24 * 60 * 60 * 1000;
let webhooks: TestWebhooks;
let webhook: string;
let message: DeliveryMessage;

/** Two minutes before midnight: the first attempt is of one UTC day, its three retries are of the next. */
const late = Date.parse('2026-03-01T23:58:00.000Z');

beforeEach(async () => {
  webhooks = createTestWebhooks();
  webhooks.clock.now = late;
  message = await webhooks.message();
  webhook = message.webhookId;
  await webhooks.attemptAll(message, notingSender(failed).send);
});

const page = (limit: number, offset: number) =>
  listDeliveries(webhooks, webhooks.organization, webhook, { limit, offset });

describe('a delivery that failed to the end', () => {
  it('has a row for each of its four attempts, newest first, and they count as four', async () => {
    const { items, total } = await page(20, 0);
    expect(total).toBe(4);
    expect(items).toMatchObject([
      { attempt: 4, redelivery: true, deliveredAt: '2026-03-02T02:33:00.000Z' },
      { attempt: 3, redelivery: true, deliveredAt: '2026-03-02T00:33:00.000Z' },
      { attempt: 2, redelivery: true, deliveredAt: '2026-03-02T00:03:00.000Z' },
      { attempt: 1, redelivery: false, deliveredAt: '2026-03-01T23:58:00.000Z', id: message.deliveryId },
    ]);
    expect(new Set(items.map(({ id }) => id)).size).toBe(4);
    expect(new Set(items.map(({ deliveryId }) => deliveryId))).toEqual(new Set([message.deliveryId]));
  });

  it('is paged through attempt by attempt, with the total of attempts on each page', async () => {
    const pages = [await page(3, 0), await page(3, 3), await page(3, 6)];
    expect(pages.map(({ items }) => items.map(({ attempt }) => attempt))).toEqual([[4, 3, 2], [1], []]);
    expect(pages.map(({ total }) => total)).toEqual([4, 4, 4]);
  });

  it('stands among the attempts of others in the order in which they were due', async () => {
    webhooks.clock.now = Date.parse('2026-03-02T02:33:00.001Z');
    const [other] = await webhooks.publish();
    await webhooks.deliver(other as DeliveryMessage, notingSender().send);
    const { items, total } = await page(2, 0);
    expect(total).toBe(5);
    expect(items.map(({ deliveryId }) => deliveryId)).toEqual([other?.deliveryId, message.deliveryId]);
  });

  it('leaves the history by the days of its attempts, and the total says so', async () => {
    webhooks.clock.now = Date.parse('2026-03-01T00:00:00.000Z') + 91 * dayMs - 1;
    expect((await page(20, 0)).total).toBe(4);
    webhooks.clock.now += 1;
    const { items, total } = await page(20, 0);
    expect(total).toBe(3);
    expect(items.map(({ attempt }) => attempt)).toEqual([4, 3, 2]);
  });
});
