import { expect, it } from 'vitest';
import { failing, type Pipeline, preparePipelines } from './pipeline.ts';

const createPipeline = await preparePipelines();
const minuteMs = 60_000;

/** The messages of a delivery with all its retries: of the first attempt, and of the waits before the three others. */
const messages = [
  'the first attempt',
  'the 5 minutes',
  ...[1, 2].map((nth) => `hop ${nth} of the 30 minutes`),
  ...[1, 2, 3, 4, 5, 6, 7, 8].map((nth) => `hop ${nth} of the 2 hours`),
].map((name, nth) => ({ name, nth }));

/** A first attempt that a queue loses is found for sampled events only, see `publish.test.ts`. */
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
    expect(latestMs).toBeGreaterThan((minutes - 1) * minuteMs);
    expect(latestMs).toBeLessThanOrEqual(minutes * minuteMs);
  },
);
