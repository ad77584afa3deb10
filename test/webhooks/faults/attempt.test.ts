import { describe, expect, it } from 'vitest';
import { startTime } from '../test-webhooks.ts';
import { type Fault, fault } from './faults.ts';
import { failing, late, type Pipeline, preparePipelines, putChange } from './pipeline.ts';

/** How long the queue hides a message whose worker failed. */
const hiddenMs = 180_000;

/** The longest time until a sweep sends a lost retry: a minute after its time, and up to a minute between sweeps. */
const sweptMs = 119_999;

const until = startTime + 600_000;

const createPipeline = await preparePipelines();

/** A fault, the number of posts in spite of it, and how late the latest attempt is, in milliseconds. */
type Case = [fault: string, fault: Fault, posts: number, latestMs: number];

describe('a first attempt is made and recorded once, although its worker', () => {
  it.each<Case>([
    ['dies before it reads the items', fault('dies before find'), 1, hiddenMs],
    ['dies after it reads the items', fault('dies after find'), 1, hiddenMs],
    ['cannot read the items', fault('fails before find'), 1, hiddenMs],
    ['has reads throttled once', fault('throttles before find'), 1, hiddenMs],
    ['dies before the post', fault('dies before post'), 1, hiddenMs],
    ['dies after the post', fault('dies after post'), 2, hiddenMs],
    ['dies before it records the attempt', fault('dies before record'), 2, hiddenMs],
    ['cannot record the attempt', fault('fails before record'), 2, hiddenMs],
    ['has writes throttled once', fault('throttles before record'), 2, hiddenMs],
    ['dies after it records the attempt', fault('dies after record'), 1, 0],
    ['gets no response to the record', fault('fails after record'), 1, 0],
    ['dies before its message is deleted', fault('dies before acknowledge'), 1, 0],
    ['has reads throttled for 10 minutes', fault('throttles before find', { until }), 1, 4 * hiddenMs - 1],
    ['has writes throttled for 10 minutes', fault('throttles before record', { until }), 6, 599_999],
  ])('%s', async (_, fault, posts, latestMs) => {
    const pipeline = await putChange(createPipeline(), [fault]);
    expect(await pipeline.rest()).toEqual({ wrong: [], ends: { delivered: 1 }, latestMs, posts });
    expect(pipeline.queues.deadLetters).toEqual([]);
  });
});

it('an attempt is not made again while its row is being written, although the mark of its slow webhook cannot be', async () => {
  const pipeline = createPipeline();
  await pipeline.register((nth) => (nth <= 2 ? late : {}), ['task.created']);
  pipeline.clock.now = startTime + hiddenMs;
  pipeline.put(pipeline.change('task.created'));
  await pipeline.publishStream();
  pipeline.faults.plan(fault('fails before pace'));
  expect(await pipeline.rest()).toMatchObject({ wrong: [], ends: { delivered: 1 }, posts: 3 });
});

describe('a late attempt is made and recorded once, although its worker', () => {
  it.each<Case>([
    ['dies before it writes that it begins', fault('dies before begin late'), 1, 2 * hiddenMs],
    ['dies after it writes that it begins', fault('dies after begin late'), 1, 2 * hiddenMs],
    ['gets no response to that write', fault('fails after begin late'), 1, 2 * hiddenMs],
    ['dies after the post', fault('dies after post'), 2, 2 * hiddenMs],
    ['dies after it records the attempt', fault('dies after record'), 1, hiddenMs],
  ])('%s', async (_, lateFault, posts, latestMs) => {
    // Its first worker died before it read anything.
    const pipeline = await putChange(createPipeline(), [fault('dies before find'), lateFault]);
    expect(await pipeline.rest()).toEqual({ wrong: [], ends: { delivered: 1 }, latestMs, posts });
  });
});

describe('all retries are made, although a worker', () => {
  it.each<Case>([
    ['dies between the record and the next message', fault('dies after record'), 4, sweptMs],
    ['gets no response to the record', fault('fails after record'), 4, sweptMs],
    ['dies before it sends the next message', fault('dies before send', { after: 1 }), 4, sweptMs],
    ['cannot send the next message', fault('fails before send', { after: 1 }), 4, sweptMs],
    ['gets no response to the next message', fault('fails after send', { after: 1 }), 4, 0],
    ['dies after it sends the next message', fault('dies after send', { after: 1 }), 4, 0],
    ['dies before it sends a hop', fault('dies before send', { after: 3 }), 4, 0],
    ['dies between a hop and the deletion of its message', fault('dies after send', { after: 3 }), 4, 0],
    ['cannot send a hop', fault('fails before send', { after: 3 }), 4, 0],
    ['dies before it reads the items of an early message', fault('dies before find', { after: 2 }), 4, 0],
    ['dies after the post of a retry', fault('dies after post', { after: 1 }), 5, sweptMs],
    ['dies before it unlists a failed attempt', fault('dies before unlist'), 4, sweptMs],
    ['dies after it unlists a failed attempt', fault('dies after unlist'), 4, sweptMs],
    ['cannot unlist a failed attempt', fault('fails before unlist'), 4, sweptMs],
    ['dies after the last record', fault('dies after record', { after: 3 }), 4, 0],
    ['dies before the last record', fault('dies before record', { after: 3 }), 5, sweptMs],
  ])('%s', async (_, fault, posts, latestMs) => {
    const pipeline = await putChange(createPipeline(), [fault], { failures: Number.POSITIVE_INFINITY });
    expect(await pipeline.rest()).toEqual({ wrong: [], ends: { exhausted: 1 }, latestMs, posts });
  });
});

it('a message that two workers receive at the same time makes each attempt of its delivery', async () => {
  const pipeline = createPipeline();
  await pipeline.register(failing(2));
  await pipeline.publish([pipeline.change()]);
  while (pipeline.queues.held.length > 0) {
    pipeline.clock.now = Math.max(pipeline.clock(), pipeline.queues.nextAt());
    await Promise.all(pipeline.queues.receive().flatMap((held) => [pipeline.work(held), pipeline.work(held)]));
  }
  // The number of posts is not defined: no worker knows of a post that is not recorded yet.
  expect(await pipeline.rest()).toMatchObject({ wrong: [], ends: { delivered: 1 } });
});

/** The messages of a delivery with all its retries: of the first attempt, and of the waits before the three others. */
const messages = [
  'the first attempt',
  'the 5 minutes',
  ...[1, 2].map((nth) => `hop ${nth} of the 30 minutes`),
  ...[1, 2, 3, 4, 5, 6, 7, 8].map((nth) => `hop ${nth} of the 2 hours`),
].map((name, nth) => ({ name, nth }));

/** A first attempt that a queue loses is found by the check of its event, see `publish.test.ts`. */
const retries = messages.slice(1);

/** Delivers an event to a receiver that always fails, through queues that lose some of its messages. */
async function deliverWithLosses(...lost: number[]): Promise<Pipeline> {
  const pipeline = createPipeline();
  await pipeline.register(failing(Number.POSITIVE_INFINITY));
  for (const nth of lost) pipeline.queues.lost.add(nth);
  // Just after a sweep, so that the next sweep is as late as possible.
  pipeline.clock.now += 1;
  pipeline.put(pipeline.change());
  await pipeline.settle();
  return pipeline;
}

it('a delivery has no other messages than these', async () => {
  const pipeline = await deliverWithLosses();
  expect(await pipeline.check()).toEqual({ wrong: [], ends: { exhausted: 1 }, latestMs: 0, posts: 4 });
  expect(pipeline.queues.taken()).toBe(messages.length);
});

it.each(
  retries.flatMap((retry) => [
    { ...retry, also: '', lost: 1, minutes: 2 },
    { ...retry, also: ' and then the sweeper’s own message', lost: 2, minutes: 7 },
  ]),
)(
  'all attempts are made, the latest within $minutes minutes, where $name$also is lost',
  async ({ nth, lost, minutes }) => {
    const pipeline = await deliverWithLosses(...[nth, nth + 1].slice(0, lost));
    const { latestMs, ...delivered } = await pipeline.check();
    expect(delivered).toEqual({ wrong: [], ends: { exhausted: 1 }, posts: 4 });
    expect(latestMs).toBeGreaterThan((minutes - 1) * 60_000);
    expect(latestMs).toBeLessThanOrEqual(minutes * 60_000);
  },
);
