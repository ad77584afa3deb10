import { describe, expect, it } from 'vitest';
import { deleteWebhook } from '../../../lib/webhooks/webhooks.ts';
import { opening } from '../test-webhooks.ts';
import type { Fault } from './faults.ts';
import { failing, preparePipelines } from './pipeline.ts';

const createPipeline = await preparePipelines();
const late = { httpStatus: 0, timedOut: true, durationMs: 0, error: 'No answer within 10 s.' };

describe('one message', () => {
  it('that comes twice at every attempt and hop adds no attempt', async () => {
    const pipeline = createPipeline();
    await pipeline.register(failing(Number.POSITIVE_INFINITY));
    await pipeline.publish([pipeline.change()]);
    pipeline.queues.held.push(...pipeline.queues.held.map((held) => ({ ...held })));
    expect(await pipeline.rest()).toEqual({ wrong: [], ends: { exhausted: 1 }, latestMs: 0 });
    expect(pipeline.posts).toHaveLength(4);
  });
});

describe('a webhook that is deleted', () => {
  it('while a retry waits gets nothing more, and the delivery is dropped when that is due', async () => {
    const pipeline = createPipeline();
    const { id } = await pipeline.register(failing(Number.POSITIVE_INFINITY));
    await pipeline.publish([pipeline.change()]);
    await pipeline.deliver();
    await deleteWebhook(pipeline, pipeline.organization, id);
    expect(await pipeline.rest()).toEqual({ wrong: [], ends: { dropped: 1 }, latestMs: 0 });
    expect(pipeline.posts).toHaveLength(1);
    expect(pipeline.clock() - (pipeline.posts[0]?.at ?? 0)).toBe(300_000);
  });

  it.each<Fault>([
    { at: 'unlist', when: 'before', how: 'dies' },
    { at: 'unlist', when: 'after', how: 'dies' },
    { at: 'unlist', when: 'before', how: 'throttles', until: opening + 600_000 },
  ])(
    'is left alone at last though its retry’s worker is struck: $when it is taken off the list, $how',
    async (fault) => {
      const pipeline = createPipeline();
      const { id } = await pipeline.register(failing(1));
      await pipeline.publish([pipeline.change()]);
      await pipeline.deliver();
      await deleteWebhook(pipeline, pipeline.organization, id);
      pipeline.faults.plan(fault);
      expect(await pipeline.rest()).toEqual({ wrong: [], ends: { dropped: 1 }, latestMs: 0 });
      expect(pipeline.posts).toHaveLength(1);
    },
  );

  it('holds up no other', async () => {
    const pipeline = createPipeline();
    const { id } = await pipeline.register(failing(1));
    await pipeline.register(failing(1));
    await pipeline.publish([pipeline.change()]);
    await pipeline.deliver();
    await deleteWebhook(pipeline, pipeline.organization, id);
    expect(await pipeline.rest()).toEqual({ wrong: [], ends: { dropped: 1, delivered: 1 }, latestMs: 0 });
    expect(pipeline.posts).toHaveLength(3);
  });
});

describe('a slow webhook', () => {
  it('gets every event, though its receiver takes all the time for four', async () => {
    const pipeline = createPipeline();
    await pipeline.register((nth) => (nth <= 4 ? late : {}));
    for (let more = 0; more < 6; more++) {
      pipeline.put(pipeline.change());
      pipeline.clock.now += 1;
      await pipeline.settle();
    }
    expect(await pipeline.rest()).toMatchObject({ wrong: [], ends: { exhausted: 1, delivered: 5 } });
  });

  it.each<['before' | 'after', 'dies' | 'fails', number]>([
    ['before', 'dies', 180_000],
    ['before', 'fails', 180_000],
    ['after', 'dies', 0],
    ['after', 'fails', 0],
  ])('gets its event where the worker, %s the message is sent on, %s', async (when, how, latestMs) => {
    const pipeline = createPipeline();
    await pipeline.register((nth) => (nth === 1 ? late : {}));
    await pipeline.publish([pipeline.change()]);
    await pipeline.deliver();
    pipeline.clock.now += 60_001;
    pipeline.faults.plan({ at: 'send to the slow queue', when, how });
    pipeline.put(pipeline.change());
    expect(await pipeline.rest()).toEqual({ wrong: [], ends: { delivered: 2 }, latestMs });
    expect(pipeline.posts).toHaveLength(3);
  });
});
