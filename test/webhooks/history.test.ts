import { beforeEach, describe, expect, it } from 'vitest';
import type { DeliveryMessage } from '../../lib/deployment/messages.ts';
import { publishEvents } from '../../lib/webhooks/publish-events.ts';
import { listDeliveries } from '../../lib/webhooks/webhooks.ts';
import { failed, notingSender, prepareTestWebhooks, startTime, type TestWebhooks } from './test-webhooks.ts';

const createTestWebhooks = await prepareTestWebhooks();
const dayMs = 24 * 60 * 60 * 1000;
let webhooks: TestWebhooks;
let webhook: string;

beforeEach(async () => {
  webhooks = createTestWebhooks();
  webhooks.clock.now = startTime - dayMs;
  webhook = (await webhooks.register()).id;
  webhooks.clock.now = startTime;
});

/** Makes an attempt that ends at a moment, and returns its delivery's id. */
async function attemptAt(now: number): Promise<string> {
  webhooks.clock.now = now;
  const [message] = await webhooks.publish();
  await webhooks.deliver(message as DeliveryMessage, notingSender().send);
  return (message as DeliveryMessage).deliveryId;
}

const page = (limit: number, offset: number) =>
  listDeliveries(webhooks, webhooks.organization, webhook, { limit, offset });

/** The pages of a history from the newest on, and the totals that they say. */
async function read(limit: number): Promise<{ ids: string[]; totals: number[] }> {
  const ids: string[] = [];
  const totals: number[] = [];
  for (let offset = 0; ; offset += limit) {
    const { items, total } = await page(limit, offset);
    totals.push(total);
    if (items.length === 0) return { ids, totals };
    ids.push(...items.map(({ id }) => id));
  }
}

describe('the history', () => {
  it('is empty before the first attempt', async () => {
    expect(await page(20, 0)).toEqual({ items: [], total: 0 });
  });

  it('has an attempt at once', async () => {
    const id = await attemptAt(startTime);
    expect((await page(20, 0)).items.map((item) => item.id)).toEqual([id]);
    expect((await page(20, 0)).total).toBe(1);
  });

  it('is newest first by when the attempts were due, in whatever order they were made', async () => {
    const [first] = await webhooks.publish();
    webhooks.clock.now += 1;
    const [second] = await webhooks.publish();
    for (const message of [second, first]) await webhooks.deliver(message as DeliveryMessage, notingSender().send);
    expect((await page(20, 0)).items.map(({ id }) => id)).toEqual([second?.deliveryId, first?.deliveryId]);
  });

  it('has an attempt that was late at its beginning', async () => {
    const [late] = await webhooks.publish();
    webhooks.clock.now += 60_000;
    const [other] = await webhooks.publish();
    await webhooks.deliver(other as DeliveryMessage, notingSender().send);
    webhooks.clock.now += 30_000;
    await webhooks.deliver(late as DeliveryMessage, notingSender().send);
    expect((await page(20, 0)).items.map(({ id }) => id)).toEqual([late?.deliveryId, other?.deliveryId]);
  });

  it('has successes and failures in one row', async () => {
    await attemptAt(startTime);
    webhooks.clock.now += 1000;
    const [message] = await webhooks.publish();
    await webhooks.deliver(message as DeliveryMessage, notingSender(failed).send);
    expect((await page(20, 0)).items.map(({ httpStatus }) => httpStatus)).toEqual([500, 204]);
  });

  it('is the webhook’s own', async () => {
    await attemptAt(startTime);
    webhooks.clock.now += 1;
    const other = await webhooks.register();
    expect(await webhooks.history(other.id)).toEqual([]);
  });

  it.each([1, 2, 5, 7, 100])(
    'is read whole by pages of %i over several days, with the exact total on each',
    async (limit) => {
      const ids: string[] = [];
      for (let nth = 0; nth < 7; nth++) ids.push(await attemptAt(startTime + nth * (dayMs / 3)));
      const { ids: seen, totals } = await read(limit);
      expect(seen).toEqual(ids.reverse());
      expect(new Set(totals)).toEqual(new Set([7]));
    },
  );

  it('is empty past its end, with its total', async () => {
    await attemptAt(startTime);
    expect(await page(20, 1)).toEqual({ items: [], total: 1 });
    expect(await page(20, 1000)).toEqual({ items: [], total: 1 });
  });

  it('has attempts of one millisecond by descending id', async () => {
    const changes = Array.from({ length: 6 }, () => webhooks.change());
    const messages = (await Promise.all(changes.map((change) => publishEvents(webhooks, change)))).length;
    expect(messages).toBe(6);
    for (const { message } of webhooks.queue.sent) await webhooks.deliver(message, notingSender().send);
    const ids = (await page(20, 0)).items.map(({ id }) => id);
    expect(ids).toHaveLength(6);
    expect(ids).toEqual([...ids].sort().reverse());
  });
});

describe('after 90 days', () => {
  const day = Date.parse('2026-03-01T00:00:00.000Z');
  const lastMoment = Date.parse('2026-05-30T23:59:59.999Z');

  it('a whole UTC day leaves the history, and totals stay exact', async () => {
    const early = [await attemptAt(day), await attemptAt(day + dayMs - 1)];
    const late = [await attemptAt(day + dayMs), await attemptAt(day + 2 * dayMs)];
    webhooks.clock.now = lastMoment;
    expect((await read(3)).ids).toEqual([...early, ...late].reverse());
    expect((await read(3)).totals).toEqual([4, 4, 4]);
    webhooks.clock.now = lastMoment + 1;
    expect((await read(3)).ids).toEqual([...late].reverse());
    expect((await read(3)).totals).toEqual([2, 2]);
  });

  it('nothing that expiry would delete has to be deleted for that', async () => {
    await attemptAt(day);
    webhooks.clock.now = lastMoment + 1;
    const before = await webhooks.dump();
    expect(await page(20, 0)).toEqual({ items: [], total: 0 });
    expect(await webhooks.dump()).toEqual(before);
    expect(Object.keys(before).filter((key) => key.includes(' A#'))).toHaveLength(1);
  });

  it('and not before, may expiry delete the attempts and their events', async () => {
    await attemptAt(day);
    await attemptAt(day + dayMs - 1);
    const expiring = Object.entries(await webhooks.dump()).filter(([key]) => / A#|#E /.test(key)) as [
      string,
      { expiresAt: number },
    ][];
    expect(expiring).toHaveLength(4);
    for (const [, { expiresAt }] of expiring) expect(expiresAt * 1000).toBe(lastMoment + 1);
  });
});
