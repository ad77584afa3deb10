import { describe, expect, it } from 'vitest';
import { startTime } from '../test-webhooks.ts';
import { type Fault, fault } from './faults.ts';
import { failing, type Pipeline, preparePipelines } from './pipeline.ts';

const createPipeline = await preparePipelines();
const minuteMs = 60_000;

/** Creates a pipeline whose queue lost the retries of some events, just after a sweep. */
async function createPipelineWithLostRetries(events: number): Promise<Pipeline> {
  const pipeline = createPipeline();
  await pipeline.register(failing(events));
  pipeline.clock.now += 1;
  await pipeline.publish(Array.from({ length: events }, () => pipeline.change()));
  await pipeline.deliver();
  pipeline.queues.held.splice(0);
  return pipeline;
}

describe('an interrupted sweep loses nothing and costs at most five minutes, although it', () => {
  it.each<[string, Fault, minutes: number]>([
    ['dies before it reads the list', fault('dies before list'), 3],
    ['cannot read the list', fault('fails before list'), 3],
    ['has reads throttled', fault('throttles before list'), 3],
    ['dies before it postpones the entry', fault('dies before postpone'), 3],
    ['cannot postpone the entry', fault('fails before postpone'), 3],
    ['has writes throttled for a while', fault('throttles before postpone', { times: 7 }), 2],
    ['dies between the write and the send', fault('dies after postpone'), 7],
    ['gets no response to the write', fault('fails after postpone'), 7],
    ['dies before the queue has the message', fault('dies before send'), 7],
    ['cannot send the message', fault('fails before send'), 7],
    ['gets no response to the send', fault('fails after send'), 2],
  ])('%s', async (_, fault, minutes) => {
    const pipeline = await createPipelineWithLostRetries(1);
    pipeline.faults.plan(fault);
    expect(await pipeline.rest()).toEqual({
      wrong: [],
      ends: { delivered: 1 },
      latestMs: minutes * minuteMs - 1,
      posts: 2,
    });
  });

  it('has a queue that accepts half of a batch', async () => {
    const pipeline = await createPipelineWithLostRetries(8);
    pipeline.faults.plan(fault('fails half send'));
    expect(await pipeline.rest()).toEqual({ wrong: [], ends: { delivered: 8 }, latestMs: 7 * minuteMs - 1, posts: 16 });
    const posted = Map.groupBy(pipeline.posts, ({ at }) => (at - startTime) / minuteMs);
    expect([...posted].slice(1).map(([minute, posts]) => [minute, posts.length])).toEqual([
      [7, 4],
      [12, 4],
    ]);
  });
});

describe('a sweep that cannot postpone one entry', () => {
  it('sends the messages of all others at once', async () => {
    const pipeline = await createPipelineWithLostRetries(60);
    pipeline.faults.plan(fault('fails before postpone', { after: 30 }));
    pipeline.clock.now += 7 * minuteMs - 1;
    await pipeline.sweep();
    await pipeline.deliver();
    expect(pipeline.posts).toHaveLength(60 + 59);
    expect(await pipeline.rest()).toMatchObject({ wrong: [], ends: { delivered: 60 } });
  });
});
