import { beforeEach, describe, expect, it } from 'vitest';
import { publishEvents } from '../../../lib/webhooks/deliveries/publish-events.ts';
import { listDeliveries } from '../../../lib/webhooks/webhooks.ts';
import { prepareTestWebhooks, startTime, type TestWebhooks } from '../test-webhooks.ts';

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

async function read(): Promise<{ ids: string[]; total: number }> {
  const { items, total } = await listDeliveries(webhooks, webhooks.organization, webhook, { limit: 20, offset: 0 });
  return { ids: items.map(({ id }) => id), total };
}

describe('the history', () => {
  it('has attempts of its webhook only, newest first, and a late one at the time when it began', async () => {
    const late = await webhooks.nextMessage();
    webhooks.clock.now += 60_000;
    const other = await webhooks.nextMessage();
    await webhooks.attempt(other);
    webhooks.clock.now += 30_000;
    await webhooks.attempt(late);
    expect(await read()).toEqual({ ids: [late.deliveryId, other.deliveryId], total: 2 });
    expect(await webhooks.history((await webhooks.register()).id)).toEqual([]);
  });

  it('has attempts of the same millisecond by descending id', async () => {
    const changes = Array.from({ length: 6 }, () => webhooks.change());
    await Promise.all(changes.map((change) => publishEvents(webhooks, change)));
    for (const { message } of webhooks.queue.sent) await webhooks.attempt(message);
    const { ids } = await read();
    expect(ids).toHaveLength(6);
    expect(ids).toEqual([...ids].sort().reverse());
  });

  it('no longer has a UTC day after 90 days, which is when expiry may delete its attempts and events', async () => {
    const day = Date.parse('2026-03-01T00:00:00.000Z');
    const lastMoment = Date.parse('2026-05-30T23:59:59.999Z');
    const ids: string[] = [];
    for (const moment of [day, day + dayMs - 1, day + dayMs, day + 2 * dayMs]) {
      webhooks.clock.now = moment;
      const message = await webhooks.nextMessage();
      await webhooks.attempt(message);
      ids.unshift(message.deliveryId);
    }
    const dump = await webhooks.dump();
    const expiring = Object.entries(dump).filter(([key]) => / A#|#E \d/.test(key)) as [string, { expiresAt: number }][];
    expect(expiring.map(([, { expiresAt }]) => expiresAt * 1000 - 1).filter((at) => at <= lastMoment)).toEqual(
      Array(4).fill(lastMoment),
    );

    webhooks.clock.now = lastMoment;
    expect(await read()).toEqual({ ids, total: 4 });
    webhooks.clock.now = lastMoment + 1;
    expect(await read()).toEqual({ ids: ids.slice(0, 2), total: 2 });
    expect(await webhooks.dump()).toEqual(dump);
  });
});
