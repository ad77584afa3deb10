import { describe, expect, it } from 'vitest';
import { opening } from '../test-webhooks.ts';
import type { Fault } from './faults.ts';
import { failing, type Pipeline, preparePipelines } from './pipeline.ts';

const createPipeline = await preparePipelines();
const minuteMs = 60_000;

/** A pipeline whose queue has lost the retries of so many events, just after a sweep, so that only the sweeper can help. */
async function pipelineThatLost(events: number): Promise<Pipeline> {
  const pipeline = createPipeline();
  await pipeline.register(failing(events));
  pipeline.clock.now += 1;
  await pipeline.publish(Array.from({ length: events }, () => pipeline.change()));
  await pipeline.deliver();
  pipeline.queues.held.splice(0);
  return pipeline;
}

describe('a sweep that is interrupted loses nothing, and costs five minutes at most, though it', () => {
  it.each<[string, Fault, number]>([
    ['dies before it lists', { at: 'list', when: 'before', how: 'dies' }, 3 * minuteMs - 1],
    ['cannot list', { at: 'list', when: 'before', how: 'fails' }, 3 * minuteMs - 1],
    ['meets lists throttled', { at: 'list', when: 'before', how: 'throttles' }, 3 * minuteMs - 1],
    ['dies before it moves', { at: 'postpone', when: 'before', how: 'dies' }, 3 * minuteMs - 1],
    ['cannot move', { at: 'postpone', when: 'before', how: 'fails' }, 3 * minuteMs - 1],
    ['meets moves throttled a while', { at: 'postpone', when: 'before', how: 'throttles', times: 7 }, 2 * minuteMs - 1],
    ['dies between the move and the send', { at: 'postpone', when: 'after', how: 'dies' }, 7 * minuteMs - 1],
    ['is not told that it has moved', { at: 'postpone', when: 'after', how: 'fails' }, 7 * minuteMs - 1],
    ['dies before the queue has the message', { at: 'send', when: 'before', how: 'dies' }, 7 * minuteMs - 1],
    ['is refused by the queue', { at: 'send', when: 'before', how: 'fails' }, 7 * minuteMs - 1],
    ['is not told that the queue has the message', { at: 'send', when: 'after', how: 'fails' }, 2 * minuteMs - 1],
  ])('%s', async (_, fault, latestMs) => {
    const pipeline = await pipelineThatLost(1);
    pipeline.faults.plan(fault);
    expect(await pipeline.rest()).toEqual({ wrong: [], ends: { delivered: 1 }, latestMs });
    expect(pipeline.posts).toHaveLength(2);
  });

  it('is refused half of a batch', async () => {
    const pipeline = await pipelineThatLost(8);
    pipeline.faults.plan({ at: 'send', when: 'half', how: 'fails' });
    expect(await pipeline.rest()).toEqual({ wrong: [], ends: { delivered: 8 }, latestMs: 7 * minuteMs - 1 });
    const posted = Map.groupBy(pipeline.posts, ({ at }) => (at - opening) / minuteMs);
    expect([...posted].slice(1).map(([minute, posts]) => [minute, posts.length])).toEqual([
      [7, 4],
      [12, 4],
    ]);
  });
});

describe('a sweep that cannot move one delivery', () => {
  it('sends the messages of all others at once', async () => {
    const pipeline = await pipelineThatLost(60);
    pipeline.faults.plan({ at: 'postpone', when: 'before', how: 'fails', after: 30 });
    pipeline.clock.now += 7 * minuteMs - 1;
    await pipeline.sweep();
    await pipeline.deliver();
    expect(pipeline.posts).toHaveLength(60 + 59);
    expect(await pipeline.rest()).toMatchObject({ wrong: [], ends: { delivered: 60 } });
  });
});
