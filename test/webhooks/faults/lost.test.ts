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
  expect(await pipeline.check()).toEqual({ wrong: [], ends: { exhausted: 1 }, latestMs: 0 });
  expect(pipeline.queues.taken()).toBe(messages.length);
});

it.each(retries)(
  'all four attempts are made, the latest within 2 minutes of its time, where $name is lost',
  async ({ nth }) => {
    const { wrong, ends, latestMs } = await (await deliverWithLosses(nth)).check();
    expect({ wrong, ends }).toEqual({ wrong: [], ends: { exhausted: 1 } });
    expect(latestMs).toBeGreaterThan(minuteMs);
    expect(latestMs).toBeLessThanOrEqual(2 * minuteMs);
  },
);

it.each(retries)('and within 7 minutes, where $name is lost and then the sweeper’s own message', async ({ nth }) => {
  const { wrong, ends, latestMs } = await (await deliverWithLosses(nth, nth + 1)).check();
  expect({ wrong, ends }).toEqual({ wrong: [], ends: { exhausted: 1 } });
  expect(latestMs).toBeGreaterThan(6 * minuteMs);
  expect(latestMs).toBeLessThanOrEqual(7 * minuteMs);
});
