import { describe, expect, it } from 'vitest';
import { opening } from '../test-webhooks.ts';
import type { Fault } from './faults.ts';
import { type Pipeline, preparePipelines } from './pipeline.ts';

const createPipeline = await preparePipelines();

/** A pipeline with a webhook, or several, and faults; a change of it is in the stream. */
async function pipelineWith(faults: Fault[], webhooks = 1): Promise<Pipeline> {
  const pipeline = createPipeline();
  for (let more = 0; more < webhooks; more++) await pipeline.register();
  pipeline.faults.plan(...faults);
  // Just after a sweep, so that whatever needs one waits for it as long as can be.
  pipeline.clock.now += 1;
  pipeline.put(pipeline.change());
  return pipeline;
}

const until = opening + 600_000;

describe('a change is published once, although its publication', () => {
  it.each<[string, Fault, number]>([
    ['is killed before it asks who hears it', { at: 'hear', when: 'before', how: 'dies' }, 1_000],
    ['is killed before the event is in the log', { at: 'append', when: 'before', how: 'dies' }, 1_000],
    ['is killed between the log and the send', { at: 'append', when: 'after', how: 'dies' }, 1_000],
    ['is killed before the queue has the message', { at: 'send', when: 'before', how: 'dies' }, 1_000],
    ['is killed once the queue has the message', { at: 'send', when: 'after', how: 'dies' }, 0],
    ['gets no answer from the log, which has the event', { at: 'append', when: 'after', how: 'fails' }, 1_000],
    ['gets no answer from the log, which has not', { at: 'append', when: 'before', how: 'fails' }, 1_000],
    ['gets no answer from the queue, which has the message', { at: 'send', when: 'after', how: 'fails' }, 0],
    ['gets no answer from the queue, which has not', { at: 'send', when: 'before', how: 'fails' }, 1_000],
    ['meets a table that throttles its reads once', { at: 'hear', when: 'before', how: 'throttles' }, 1_000],
    ['meets reads throttled for 10 minutes', { at: 'hear', when: 'before', how: 'throttles', until }, 603_000],
    ['meets writes throttled for 10 minutes', { at: 'append', when: 'before', how: 'throttles', until }, 603_000],
    ['meets a queue that refuses all for 10 minutes', { at: 'send', when: 'before', how: 'fails', until }, 603_000],
  ])('%s', async (_, fault, latestMs) => {
    const pipeline = await pipelineWith([fault]);
    expect(await pipeline.rest()).toEqual({ wrong: [], ends: { delivered: 1 }, latestMs });
    expect(pipeline.posts).toHaveLength(1);
  });

  it.each<[string, Fault]>([
    ['is killed after half of a batch', { at: 'send', when: 'half', how: 'dies' }],
    ['is refused half of a batch', { at: 'send', when: 'half', how: 'fails' }],
    ['is killed between two batches', { at: 'send', when: 'before', how: 'dies', after: 1 }],
  ])('to fifteen webhooks %s', async (_, fault) => {
    const pipeline = await pipelineWith([fault], 15);
    expect(await pipeline.rest()).toEqual({ wrong: [], ends: { delivered: 15 }, latestMs: 1_000 });
    expect(pipeline.posts).toHaveLength(15);
  });
});

describe('records of the stream', () => {
  it('that come twice, in one batch and in another, are published once', async () => {
    const pipeline = await pipelineWith([]);
    const change = pipeline.change();
    pipeline.put(change, change);
    await pipeline.settle();
    pipeline.put(change);
    expect(await pipeline.rest()).toEqual({ wrong: [], ends: { delivered: 2 }, latestMs: 0 });
    expect(pipeline.posts).toHaveLength(2);
  });

  it('that come again while their receiver fails add no attempt', async () => {
    const pipeline = createPipeline();
    await pipeline.register((nth) => (nth < 3 ? { httpStatus: 500, error: 'The receiver answered 500.' } : {}));
    const change = pipeline.change();
    pipeline.put(change);
    await pipeline.publish([change]);
    await pipeline.deliver();
    pipeline.clock.now += 60_000;
    pipeline.put(change);
    expect(await pipeline.rest()).toEqual({ wrong: [], ends: { delivered: 1 }, latestMs: 0 });
    expect(pipeline.posts).toHaveLength(3);
  });

  it('that come in another order are published once each, with their own times', async () => {
    const pipeline = createPipeline();
    await pipeline.register();
    const changes = [];
    for (let more = 0; more < 5; more++) {
      changes.push(pipeline.change());
      pipeline.clock.now += 1_000;
    }
    pipeline.put(...changes.toReversed());
    expect(await pipeline.rest()).toEqual({ wrong: [], ends: { delivered: 5 }, latestMs: 5_000 });
    expect(pipeline.posts).toHaveLength(5);
  });
});

describe('the deliveries of a sampled event that the stream never brings again', () => {
  it.each<[string, Fault]>([
    ['the queue lost', { at: 'send', when: 'before', how: 'dies' }],
    ['were to be sent when the publisher died', { at: 'append', when: 'after', how: 'dies' }],
  ])('and %s are made after 17 minutes, by the sweeper', async (_, fault) => {
    const pipeline = createPipeline();
    await pipeline.register();
    pipeline.faults.plan(fault);
    expect(await pipeline.publish([pipeline.change('task.created', true)])).toBe('dead');
    expect(await pipeline.rest()).toEqual({ wrong: [], ends: { delivered: 1 }, latestMs: 17 * 60_000 });
    expect(pipeline.posts).toHaveLength(1);
  });
});
