import { beforeEach, describe, expect, it } from 'vitest';
import type { Order } from '../../../lib/names/messages.ts';
import { carryOut } from '../../../lib/webhooks/orders/carry-out.ts';
import { updateWebhook } from '../../../lib/webhooks/webhooks.ts';
import { prepareTestWebhooks, type TestWebhooks } from '../test-webhooks.ts';
import { progressOf, recover, runToEnd, sweep } from './test-recoveries.ts';

const minuteMs = 60_000;
let webhooks: TestWebhooks;
let id: string;

beforeEach(async () => {
  webhooks = (await prepareTestWebhooks())();
});

/** Begins a recovery of events from before the registration of the webhook, and returns its id. */
async function begin(events: number, fields: { ratePerSecond?: number } = {}) {
  for (let nth = 0; nth < events; nth++) await webhooks.publish();
  webhooks.clock.now += minuteMs;
  id = (await webhooks.register()).id;
  const { matched, recoveryId } = await recover(webhooks, id, { include: ['never_sent'], ...fields });
  expect(matched).toBe(events);
  return recoveryId as string;
}

const newestOrder = () => webhooks.queue.orders.at(-1)?.message as Order;

describe('a recovery', () => {
  it.each([1, 20, 100])(
    'with a rate of %i sends at most as many events in a second, and not much fewer',
    async (rate) => {
      const events = Math.min(rate * 4, 120);
      const recoveryId = await begin(events, { ratePerSecond: rate });
      const made = (await runToEnd(webhooks, id, recoveryId)).map(({ at }) => at);
      const inSecond = made.map((from) => made.filter((at) => at >= from && at < from + 1_000).length);
      expect(Math.max(...inSecond)).toBeLessThanOrEqual(rate);
      expect((made.at(-1) as number) - (made[0] as number)).toBeLessThanOrEqual((1_000 * events) / rate + 2_000);
    },
  );

  it('sends its first event at once', async () => {
    await begin(3);
    const startedAt = webhooks.clock();
    expect((await sweep(webhooks))[0]?.at).toBe(startedAt);
  });

  it('has the present numbers whenever it is read, and is completed within five seconds after its last attempt', async () => {
    const recoveryId = await begin(4, { ratePerSecond: 1 });
    const progress: number[] = [];
    const made = await runToEnd(webhooks, id, recoveryId, async () => {
      progress.push((await progressOf(webhooks, id, recoveryId)).delivered);
      return { httpStatus: 204, durationMs: 0, timedOut: false, responseBody: '' };
    });
    expect(progress).toEqual([0, 1, 2, 3]);
    const { state, completedAt } = await progressOf(webhooks, id, recoveryId);
    expect(state).toBe('completed');
    expect(Date.parse(completedAt as string) - (made.at(-1)?.at as number)).toBeLessThanOrEqual(5_000);
  });

  it('is not continued by an order that is received again, or after the sweeper has continued it', async () => {
    await begin(400);
    await sweep(webhooks);
    const order = newestOrder();
    webhooks.clock.now += 2 * minuteMs;
    await carryOut(webhooks, order);
    const sent = webhooks.queue.sent.length;
    const orders = webhooks.queue.orders.length;
    await carryOut(webhooks, order);
    expect([webhooks.queue.sent.length, webhooks.queue.orders.length]).toEqual([sent, orders]);
  });

  it('is continued by the sweeper if its order is lost', async () => {
    const recoveryId = await begin(1);
    const [first] = await sweep(webhooks);
    await webhooks.attempt(first?.message as never);
    for (let minutes = 0; minutes < 6; minutes++) {
      webhooks.clock.now += minuteMs;
      await sweep(webhooks);
    }
    expect(await progressOf(webhooks, id, recoveryId)).toMatchObject({ state: 'completed', delivered: 1 });
  });

  it('that waits for the end of a pause is continued by the order to send what the pause held back', async () => {
    const recoveryId = await begin(2);
    const change = (active: boolean) => updateWebhook(webhooks, webhooks.organization, id, { active }, () => {});
    await change(false);
    expect(await sweep(webhooks)).toEqual([]);
    await change(true);
    const order = { kind: 'release' as const, version: 3 };
    await carryOut(webhooks, { organization: webhooks.organization, webhookId: id, order });
    expect(webhooks.queue.sent.slice(-2)).toMatchObject([{ message: { attempt: 1 } }, { message: { attempt: 1 } }]);
    expect(await runToEnd(webhooks, id, recoveryId)).toHaveLength(2);
  });
});
