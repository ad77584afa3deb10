import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { QueueSender } from '../../../lib/aws/queue.ts';
import type { Context } from '../../../lib/context/context.ts';
import { timestamp } from '../../../lib/contract/ids.ts';
import type { Organization } from '../../../lib/contract/organization.ts';
import { insertWebhook } from '../../../lib/table/webhooks/webhooks.ts';
import { deliveryQueues } from '../../../lib/webhooks/attempts/attempt-messages.ts';
import { compareDeliveries } from '../../../lib/webhooks/deliveries/compare-deliveries.ts';
import { sweepDeliveries } from '../../../lib/webhooks/deliveries/sweep.ts';
import { createProcess } from '../sequences/calls.ts';
import { startAwsService } from '../sequences/services.ts';
import { createWorld, type TestWebhook, type World, wait } from '../sequences/world.ts';
import { createChange, startTime } from '../test-webhooks.ts';

const minuteMs = 60_000;

beforeEach(() => {
  const toFake = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'] as const;
  vi.useFakeTimers({ now: startTime, toFake: [...toFake] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Moves the virtual time until the work is done. */
async function run({ calls }: World, work: Promise<unknown>): Promise<void> {
  let done = false;
  void work.finally(() => {
    done = true;
  });
  for (;;) {
    await calls.drain();
    if (done) return void (await work);
    vi.advanceTimersToNextTimer();
  }
}

/** Registers a webhook of an organization for new tasks. */
async function register(context: Context, organization: Organization, { id }: TestWebhook): Promise<void> {
  const fields = { events: ['task.created' as const], active: true, createdAt: timestamp(Date.now()) };
  await insertWebhook(context, organization, { id, url: `https://example.com/${id}`, ...fields }, undefined, undefined);
}

it('2,000 events that wait for a slow receiver are posted once each, as fast as it answers, and are never taken for lost', async () => {
  const events = 2_000;
  let stored = 0;
  const world = createWorld({ deployment: 'aws', order: 1, rates: [null], steps: [] }, (table) => (command) => {
    if (JSON.stringify(command).includes('"waitsUntil"')) stored += 1;
    return table.send(command);
  });
  const { organization, reader } = world;
  const webhook = world.webhookAt(0);
  webhook.receiver.mode = 'slow';
  const sent: unknown[] = [];
  const note: QueueSender = async (messages) => void sent.push(...messages);
  const sweeper = world.context(createProcess(), new Map(deliveryQueues.map((name) => [name, note])));
  startAwsService(world);

  const deliverAll = async () => {
    await register(sweeper, organization, webhook);
    for (let nth = 0; nth < events; nth++) world.commit();
    while (world.received.length < events || world.table.earliestDue() !== Number.POSITIVE_INFINITY) {
      await wait(minuteMs);
      await sweepDeliveries(sweeper, { until: Date.now() });
    }
  };
  await run(world, deliverAll());

  expect(sent).toEqual([]);
  expect(new Set(world.received.map(({ deliveryId }) => deliveryId)).size).toBe(events);
  expect(world.received).toHaveLength(events);
  expect(Math.max(...world.received.map(({ begunTime }) => begunTime))).toBeLessThan(startTime + 60 * minuteMs);
  // The item of a wait is written a few times, not at each try.
  expect(stored / events).toBeLessThan(2);
  const range = { from: startTime, to: Date.now(), now: Date.now() + 60 * minuteMs };
  expect(await compareDeliveries(reader, organization, range)).toMatchObject({ deliveries: events, lost: [] });
});

it.each([
  ['answers after 3 s', 'slow', 3_000],
  ['does not answer', 'hanging', 10_000],
] as const)(
  '2,000 events for a receiver that %s delay those of another organization only until its first attempts end',
  async (_, mode, attemptMs) => {
    const [slowEvents, otherEvents] = [2_000, 50];
    const world = createWorld({ deployment: 'aws', order: 1, rates: [null, null], steps: [] });
    const [slow, other] = [world.webhookAt(0), world.webhookAt(1)];
    slow.receiver.mode = mode;
    const context = world.context(createProcess(), new Map());
    startAwsService(world);
    const publishedAt: number[] = [];

    const deliverBoth = async () => {
      await register(context, world.organization, slow);
      await register(context, 'another' as Organization, other);
      for (let nth = 0; nth < slowEvents; nth++) world.commit();
      for (let nth = 0; nth < otherEvents; nth++) {
        publishedAt.push(Date.now());
        world.changes.push(createChange('another' as Organization, 'task.created', Date.now(), `tk_${context.ulid()}`));
        world.signal();
        await wait(nth < 20 ? 100 : 10_000);
      }
    };
    await run(world, deliverBoth());

    const posts = Map.groupBy(world.received, ({ webhook }) => webhook.id);
    expect(posts.get(slow.id)?.length).toBeLessThan(slowEvents);
    const begun = posts.get(other.id)?.map(({ begunTime }) => begunTime) ?? [];
    expect(begun).toHaveLength(otherEvents);
    const delays = begun.map((time, nth) => ({
      afterMs: (publishedAt[nth] as number) - startTime,
      ms: time - (publishedAt[nth] as number),
    }));
    expect(Math.max(...delays.map(({ ms }) => ms))).toBeLessThanOrEqual(attemptMs);
    expect(delays.filter(({ afterMs, ms }) => afterMs > attemptMs && ms > 0)).toEqual([]);
  },
);
