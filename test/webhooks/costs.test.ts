import { beforeEach, describe, expect, it } from 'vitest';
import { timestamp } from '../../lib/contract/ids.ts';
import { type Cost, meter } from '../table/capacity.ts';
import { failed, notingSender, type Office, openOffices, slowAttempts } from './office.ts';

const newOffice = await openOffices();
let office: Office;
const { costOf } = meter(newOffice().table);

beforeEach(() => {
  office = newOffice();
});

/** Holds a cost to its most (design §4). */
function expectAtMost(cost: Cost, most: Partial<Cost>): void {
  const over = (Object.keys(most) as (keyof Cost)[]).filter((unit) => cost[unit] > (most[unit] ?? 0));
  expect({ over, cost }).toEqual({ over: [], cost });
}

describe('a delivery costs', () => {
  it('a write when it is put, and one read for all that hear the event', async () => {
    await Promise.all(Array.from({ length: 10 }, () => office.register({ secret: 'a secret' })));
    const change = office.change();
    expectAtMost(await costOf(() => office.deliveries.publish(change)), { requests: 11, rcu: 1, wcu: 10 });
  });

  it('nothing but failed conditions when its change is read again', async () => {
    await office.register();
    const change = office.change();
    await office.publish(change);
    expectAtMost(await costOf(() => office.deliveries.publish(change)), { requests: 2, rcu: 1, wcu: 1 });
  });
});

describe('an attempt costs', () => {
  it.each([
    ['delivers', {}],
    ['fails', failed],
  ])('four requests and eight write units when it %s', async (_, outcome) => {
    const message = await office.message({ secret: 'a secret' });
    const cost = await costOf(() => office.deliveries.attempt(message, notingSender(outcome).send));
    expectAtMost(cost, { requests: 4, rcu: 2, wcu: 8 });
  });

  it('two requests and a write unit when it is early and is sent on', async () => {
    const message = await office.message({ secret: 'a secret' });
    office.clock.now -= 1;
    const cost = await costOf(() => office.deliveries.attempt(message, notingSender().send));
    expectAtMost(cost, { requests: 2, rcu: 2, wcu: 1 });
  });

  it('a request and a write unit more in the queue of slow webhooks, for a lease', async () => {
    const message = await office.message({ secret: 'a secret' });
    const slow = { ...message, slow: true } as const;
    const cost = await costOf(() =>
      office.deliveries.attempt(slow, notingSender({ ...failed, durationMs: 9_000 }).send),
    );
    expectAtMost(cost, { requests: 5, rcu: 2, wcu: 9 });
  });

  it('a request and a write unit more when the webhook turns out slow', async () => {
    const message = await office.message({ secret: 'a secret' });
    const { send } = notingSender({ ...failed, durationMs: 9_000 }, () => office.alarms.at(-1)?.ring());
    expectAtMost(await costOf(() => office.deliveries.attempt(message, send)), { requests: 5, rcu: 2, wcu: 9 });
  });

  it('a read when it finds no lease and is sent again', async () => {
    const message = await office.message({ secret: 'a secret' });
    const lease = { now: timestamp(office.clock()), until: timestamp(office.clock() + 20_000) };
    for (let number = 0; number < slowAttempts; number++)
      await office.webhookStore.leaseSlowAttempt(office.organization, message.webhookId, { ...lease, number });
    const slow = { ...message, slow: true } as const;
    const cost = await costOf(() => office.deliveries.attempt(slow, notingSender().send));
    expectAtMost(cost, { requests: 1, rcu: 2, wcu: 0 });
  });

  it('a read when it is sent on to the slow lane', async () => {
    const message = await office.message();
    await office.deliveries.attempt(message, notingSender({ ...failed, timedOut: true }).send);
    const [next] = await office.publish();
    const cost = await costOf(() => office.deliveries.attempt(next as typeof message, notingSender().send));
    expect(office.queue.sent.at(-1)).toMatchObject({ to: 'slowDeliveries', message: { slow: true } });
    expectAtMost(cost, { requests: 1, rcu: 2, wcu: 0 });
  });
});
