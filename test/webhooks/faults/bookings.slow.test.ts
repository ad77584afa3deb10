import { beforeEach, expect, it, vi } from 'vitest';
import type { WebhookPatch } from '../../../lib/contract/webhooks.ts';
import { readTarget } from '../../../lib/table/deliveries/webhooks.ts';
import { failed, startTime } from '../test-webhooks.ts';
import { type Answers, type Pipeline, preparePipelines } from './pipeline.ts';

/** How often the local service sweeps, in milliseconds. */
const sweepEveryMs = 5_000;

let pipeline: Pipeline;
let sweptAt: number;
/** The number of times that attempts have booked: each moves the end of the booked times. */
let bookings: number;

// A sweep is over the whole table, so each test has one of its own.
beforeEach(async () => {
  pipeline = (await preparePipelines('1,1,1'))();
  sweptAt = startTime;
  bookings = 0;
  const { client } = pipeline.table;
  const send = client.send.bind(client) as (command: never) => Promise<unknown>;
  vi.spyOn(client, 'send').mockImplementation((async (command: { input: object }) => {
    const answer = await send(command as never);
    if (JSON.stringify(command.input).includes('bookedUntil = ')) bookings += 1;
    return answer;
  }) as never);
});

/** Registers a webhook with a maximum of one attempt in a second. */
async function register(answers?: Answers): Promise<string> {
  const { id } = await pipeline.register(answers);
  await change(id, { maxPerSecond: 1 });
  return id;
}

async function change(id: string, patch: WebhookPatch): Promise<void> {
  expect(await pipeline.update(id, patch)).toBe('done');
}

/** Publishes events within a second, each at a time of its own. */
async function publish(count: number): Promise<void> {
  for (let nth = 0; nth < count; nth++) {
    pipeline.put(pipeline.change());
    await pipeline.publishStream();
    await run(Math.floor(1_000 / count));
  }
}

/** Moves the clock by a time, or until as many posts were made as are expected: processes messages and sweeps. */
async function run(ms: number, posts = Number.POSITIVE_INFINITY): Promise<void> {
  const end = pipeline.clock() + ms;
  while (pipeline.posts.length < posts) {
    for (const held of pipeline.queues.receive()) await pipeline.work(held);
    const next = Math.min(pipeline.queues.nextAt(), sweptAt + sweepEveryMs, end);
    pipeline.clock.now = Math.max(pipeline.clock(), next);
    if (pipeline.clock() >= sweptAt + sweepEveryMs) {
      sweptAt = pipeline.clock();
      await pipeline.sweep();
    } else if (pipeline.clock() >= end) return;
  }
}

/** Moves the clock until some posts were made; returns the seconds since a moment. */
async function secondsUntil(posts: number, since = startTime): Promise<number> {
  await run(3_600_000, posts);
  expect(pipeline.posts).toHaveLength(posts);
  return ((pipeline.posts.at(-1)?.at ?? 0) - since) / 1_000;
}

/** Returns the seconds from now until the end of all booked times. */
async function bookedSeconds(id: string): Promise<number> {
  const { bookedUntil = 0 } = (await readTarget(pipeline, pipeline.organization, id)) ?? {};
  return Math.max(0, bookedUntil - pipeline.clock()) / 1_000;
}

/** Returns the largest number of posts in any one second. */
function mostInSecond(): number {
  const at = pipeline.posts.map((post) => post.at);
  return Math.max(...at.map((from) => at.filter((other) => other >= from && other < from + 1_000).length));
}

it('after a change to a higher maximum neither a new event nor those that wait have to wait for the times booked before', async () => {
  const id = await register();
  await publish(60);
  expect(await bookedSeconds(id)).toBeGreaterThan(65);
  await change(id, { maxPerSecond: 50 });
  const changedAt = pipeline.clock();
  pipeline.put(pipeline.change());
  await pipeline.publishStream();
  expect(await secondsUntil(61, changedAt)).toBeLessThan(10);
  const newest = pipeline.posts.toSorted((a, b) => (a.deliveryId < b.deliveryId ? -1 : 1)).at(-1);
  expect(newest?.at).toBeLessThan(changedAt + 2_000);
});

it('short pauses leave no unused booked times behind', async () => {
  const id = await register();
  await publish(40);
  for (let nth = 0; nth < 3; nth++) {
    await change(id, { active: false });
    await run(1_000);
    await change(id, { active: true });
    await run(6_000);
    expect(await bookedSeconds(id)).toBeLessThanOrEqual((40 - pipeline.posts.length) * 1.2 + 1.1);
  }
  expect(await secondsUntil(40)).toBeLessThan(100);
  expect(mostInSecond()).toBe(1);
});

it('retries that wait for their times are not taken for lost: each attempt books at most once', async () => {
  await register(() => failed);
  await publish(60);
  expect(await secondsUntil(240)).toBeLessThan(400);
  expect(bookings).toBeLessThanOrEqual(240);
  expect(mostInSecond()).toBe(1);
});
