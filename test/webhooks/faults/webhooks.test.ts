import { describe, expect, it } from 'vitest';
import { deleteWebhook } from '../../../lib/webhooks/webhooks.ts';
import { startTime } from '../test-webhooks.ts';
import { type Fault, fault } from './faults.ts';
import { failing, late, preparePipelines } from './pipeline.ts';

const createPipeline = await preparePipelines();

it('a message that the queue sends twice at every attempt and hop adds no attempt', async () => {
  const pipeline = createPipeline();
  await pipeline.register(failing(Number.POSITIVE_INFINITY));
  await pipeline.publish([pipeline.change()]);
  pipeline.queues.held.push(...pipeline.queues.held.map((held) => ({ ...held })));
  expect(await pipeline.rest()).toEqual({ wrong: [], ends: { exhausted: 1 }, latestMs: 0, posts: 4 });
});

describe('a webhook that is deleted while a retry waits', () => {
  /** Creates a pipeline with a failed first attempt, whose webhook is deleted. */
  async function createPipelineWithDeletedWebhook(others = 0) {
    const pipeline = createPipeline();
    const { id } = await pipeline.register(failing(1));
    for (let more = 0; more < others; more++) await pipeline.register(failing(1));
    await pipeline.publish([pipeline.change()]);
    await pipeline.deliver();
    await deleteWebhook(pipeline, pipeline.organization, id, () => {});
    return pipeline;
  }

  it.each<[string, ...Fault[]]>([
    ['no fault'],
    ['a worker that dies before it unlists the retry', fault('dies before unlist')],
    ['a worker that dies after it unlists the retry', fault('dies after unlist')],
    ['throttled writes for 10 minutes', fault('throttles before unlist', { until: startTime + 600_000 })],
  ])('gets no further post, and the delivery is dropped when the retry is due: %s', async (_, ...faults) => {
    const pipeline = await createPipelineWithDeletedWebhook();
    pipeline.faults.plan(...faults);
    expect(await pipeline.rest()).toEqual({ wrong: [], ends: { dropped: 1 }, latestMs: 0, posts: 1 });
    // The last work is the check of the event.
    if (faults.length === 0) expect(pipeline.clock() - startTime).toBe(420_000);
  });

  it('does not delay another webhook', async () => {
    const pipeline = await createPipelineWithDeletedWebhook(1);
    expect(await pipeline.rest()).toEqual({ wrong: [], ends: { dropped: 1, delivered: 1 }, latestMs: 0, posts: 3 });
  });
});

describe('a slow webhook', () => {
  it('gets every event, although its receiver times out four times', async () => {
    const pipeline = createPipeline();
    await pipeline.register((nth) => (nth <= 4 ? late : {}));
    for (let more = 0; more < 6; more++) {
      pipeline.put(pipeline.change());
      pipeline.clock.now += 1;
      await pipeline.settle();
    }
    expect(await pipeline.rest()).toMatchObject({ wrong: [], ends: { exhausted: 1, delivered: 5 } });
  });

  it.each<[Fault, number]>([
    [fault('dies before send to the slow queue'), 180_000],
    [fault('fails before send to the slow queue'), 180_000],
    [fault('dies after send to the slow queue'), 0],
    [fault('fails after send to the slow queue'), 0],
  ])(
    'gets its event although the worker that sends its message to the slow queue fails: %o',
    async (fault, latestMs) => {
      const pipeline = createPipeline();
      await pipeline.register((nth) => (nth === 1 ? late : {}));
      await pipeline.publish([pipeline.change()]);
      await pipeline.deliver();
      pipeline.clock.now += 60_001;
      pipeline.faults.plan(fault);
      pipeline.put(pipeline.change());
      expect(await pipeline.rest()).toEqual({ wrong: [], ends: { delivered: 2 }, latestMs, posts: 3 });
    },
  );
});
