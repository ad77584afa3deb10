import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { beforeAll, describe, expect, it } from 'vitest';
import type { QueueSender } from '../../../lib/aws/queue.ts';
import { timestamp, ulidOf } from '../../../lib/contract/ids.ts';
import { maxRecoveredEvents, maxRecoveryRange } from '../../../lib/contract/webhooks/recoveries.ts';
import type { DeliveryMessage } from '../../../lib/names/messages.ts';
import { writeBatch } from '../../../lib/table/access/batch-writes.ts';
import { attemptItem } from '../../../lib/table/deliveries/attempt-items.ts';
import { eventItem } from '../../../lib/table/events/event-log.ts';
import { deliveryIdOf, eventIdOf } from '../../../lib/webhooks/attempts/derived-ids.ts';
import { carryOut } from '../../../lib/webhooks/orders/carry-out.ts';
import { sweepRecoveries } from '../../../lib/webhooks/recoveries/sweep.ts';
import { percentile } from '../../bench/page/figures.ts';
import { attemptFor } from '../../table/deliveries/attempt-seed.ts';
import { meter } from '../../table/fixtures/capacity.ts';
import { failed, notingSender, prepareTestWebhooks, type TestWebhooks } from '../test-webhooks.ts';
import { progressOf, recover } from './test-recoveries.ts';

const minuteMs = 60_000;
/** The most that a share of 750 events takes in memory, in bytes. */
const shareBytes = 8_000_000;
/** The time between two seeded events, in milliseconds: 10,000 of them take about three hours. */
const betweenMs = 1_000;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Returns the bytes that the process still needs. */
function heapInUse(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

/** Puts an event of each second into the log, and the rows of its four failed attempts. */
async function seedExhausted({ table, organization, clock }: TestWebhooks, webhookId: string, number: number) {
  const event = 'task.created' as const;
  const start = clock();
  const seeded = Array.from({ length: number }, (_, at) => {
    const [item, version, changedAt] = [`tk_${at}`, 1, start + at * betweenMs];
    const eventId = eventIdOf(changedAt, { item, version, event });
    const deliveryId = deliveryIdOf(changedAt, { item, version, event, webhookId });
    const items = [eventItem({ organization, id: eventId, event, item, version, data: JSON.stringify({ item }) })];
    let dueAt = changedAt;
    for (const [before, wait] of [5, 30, 120, undefined].entries()) {
      const message: DeliveryMessage = {
        ...{ organization, webhookId, deliveryId, eventId },
        ...{ attempt: before + 1, dueAt: timestamp(dueAt) },
      };
      if (wait !== undefined) dueAt += wait * minuteMs;
      const next = { dueAt: timestamp(dueAt), listedFrom: timestamp(dueAt) };
      // The rows are in no index, as after their retries.
      const {
        due,
        dueAt: listedAt,
        ...row
      } = attemptItem(attemptFor(message, { error: failed.error, ...(wait !== undefined && { retry: next }) }));
      items.push(row);
    }
    return items;
  });
  const puts = seeded.flat().map((Item) => ({ PutRequest: { Item } }));
  for (let at = 0; at < puts.length; at += 25) await writeBatch(table, puts.slice(at, at + 25));
  clock.now = start + number * betweenMs + 200 * minuteMs;
}

describe('10,000 deliveries that failed permanently', () => {
  let webhooks: TestWebhooks;
  let id: string;
  let costOf: ReturnType<typeof meter>['costOf'];
  beforeAll(async () => {
    webhooks = (await prepareTestWebhooks())();
    ({ costOf } = meter(webhooks.table));
    ({ id } = await webhooks.register());
    await seedExhausted(webhooks, id, maxRecoveredEvents + 1);
  });

  it('and one more are too many; the error names the latest end that works', async () => {
    const error = await recover(webhooks, id).catch((thrown) => thrown);
    expect(error).toMatchObject({ code: 'range_too_large', details: [{ path: 'until', code: 'limit' }] });
    const [named = ''] = /\d{4}-\S+Z/.exec(error.details[0].message) ?? [];
    const matchedBy = async (until: number) => (await recover(webhooks, id, { until, dryRun: true })).matched;
    expect(await matchedBy(Date.parse(named))).toBe(maxRecoveredEvents);
    await expect(matchedBy(Date.parse(named) + 1)).rejects.toMatchObject({ code: 'range_too_large' });
  });

  it('are recovered in one call, 10 a second and in order, each once, with the memory of one share', async () => {
    const { clock, queue } = webhooks;
    const until = clock() - 200 * minuteMs - betweenMs - 1;
    let recoveryId: string | undefined;
    const cost = await costOf(async () => {
      ({ recoveryId } = await recover(webhooks, id, { until }));
    });
    // The rows of attempts are neighbours: each takes 0.1 read units and not 1.
    expect(cost.rcu).toBeLessThan(10_000);
    expect(cost.requests).toBeLessThan(100);

    const made: { deliveryId: string; at: number }[] = [];
    /** The bytes that each worker has in memory when it sends its messages. */
    const shares: number[] = [];
    let before = 0;
    const list = queue.queues.get('deliveries') as QueueSender;
    let isFirst = true;
    const measured: QueueSender = async (messages) => {
      // Once for each worker: each look at the heap collects its garbage first.
      if (isFirst) shares.push(heapInUse() - before);
      isFirst = false;
      await list(messages);
    };
    const context = { ...webhooks, queues: new Map(queue.queues).set('deliveries', measured) };
    let waiting: { message: DeliveryMessage; at: number }[] = [];
    const { posts, send } = notingSender();
    before = heapInUse();
    await sweepRecoveries(context, { until: clock(), hasTime: () => true });
    for (let order = 0; order < 100; order++) {
      const [next] = queue.orders.splice(0);
      const sent = queue.sent.splice(0);
      waiting.push(...sent.map(({ message, delaySeconds }) => ({ message, at: clock() + delaySeconds * 1_000 })));
      if (!next) break;
      const orderAt = clock() + next.delaySeconds * 1_000;
      const due = waiting.filter(({ at }) => at < orderAt);
      waiting = waiting.filter(({ at }) => at >= orderAt);
      for (const { at, batch } of Map.groupBy(due, ({ at }) => at)
        .entries()
        .map(([at, batch]) => ({ at, batch }))) {
        clock.now = Math.max(clock.now, at);
        await Promise.all(batch.map(({ message }) => webhooks.deliver(message, send)));
        made.push(...batch.map(({ message }) => ({ deliveryId: message.deliveryId, at: clock() })));
      }
      posts.length = 0;
      clock.now = orderAt;
      before = heapInUse();
      isFirst = true;
      await carryOut(context, next.message);
    }
    expect(await progressOf(webhooks, id, recoveryId)).toMatchObject({
      ...{ status: 'completed', matched: 10_000, sent: 10_000, delivered: 10_000, failed: 0 },
    });
    expect(made).toHaveLength(10_000);
    const ids = made.map(({ deliveryId }) => ulidOf(deliveryId));
    expect(new Set(ids).size).toBe(10_000);
    expect(ids).toEqual(ids.toSorted());
    const perSecond = [...Map.groupBy(made, ({ at }) => at).values()].map((some) => some.length);
    expect(Math.max(...perSecond)).toBe(10);
    const [first, last] = [made[0]?.at as number, made.at(-1)?.at as number];
    // The first event is sent at once, the others in whole seconds.
    expect(last - first).toBe(1_000 * 1_000);
    // The later shares take no more than the earlier ones. By medians, because other memory that is freed during a sweep
    // makes its share seem smaller.
    const [earlier, later] = [shares.slice(0, shares.length / 2), shares.slice(shares.length / 2)];
    expect(percentile(later, 0.5)).toBeLessThan(1.5 * percentile(earlier, 0.5));
    expect(Math.max(...shares)).toBeLessThan(shareBytes);
  });
});

it('a range with more than 20,000 events is too large, although the webhook has missed none of them', async () => {
  const webhooks = (await prepareTestWebhooks())();
  const { organization, clock, table } = webhooks;
  const { id } = await webhooks.register({ events: ['task.completed'] });
  const start = clock();
  const puts = Array.from({ length: maxRecoveryRange + 1 }, (_, at) => {
    const origin = { item: `tk_${at}`, version: 1, event: 'task.created' as const };
    const Item = eventItem({ organization, id: eventIdOf(start + at, origin), ...origin, data: '{}' });
    return { PutRequest: { Item } };
  });
  for (let at = 0; at < puts.length; at += 25) await writeBatch(table, puts.slice(at, at + 25));
  clock.now += 2 * maxRecoveryRange;
  const error = await recover(webhooks, id, { dryRun: true }).catch((thrown) => thrown);
  const until = start + maxRecoveryRange - 1;
  const message = `until must be ${timestamp(until)} or earlier`;
  expect(error).toMatchObject({ code: 'range_too_large', details: [{ path: 'until', code: 'limit', message }] });
  expect(await recover(webhooks, id, { until, dryRun: true })).toMatchObject({ matched: 0 });
});
