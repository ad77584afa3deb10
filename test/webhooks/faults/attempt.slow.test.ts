import { describe, expect, it } from 'vitest';
import { opening } from '../test-webhooks.ts';
import type { Fault } from './faults.ts';
import { failing, type Pipeline, preparePipelines } from './pipeline.ts';

/** The message of a worker that failed comes again when its queue hides it no more. */
const again = 180_000;

/** A retry that is lost is missed a minute after its time, and sent again by the next sweep. */
const overdue = 119_999;

/** A fault of ten minutes is over for whatever comes next. */
const until = opening + 600_000;

const createPipeline = await preparePipelines();

/** A pipeline with one webhook, whose receiver fails so often, and faults; an event of it is in the stream. */
async function pipelineWith(failures: number, ...faults: Fault[]): Promise<Pipeline> {
  const pipeline = createPipeline();
  await pipeline.register(failing(failures));
  pipeline.faults.plan(...faults);
  // Just after a sweep, so that whatever needs one waits for it as long as can be.
  pipeline.clock.now += 1;
  pipeline.put(pipeline.change());
  return pipeline;
}

describe('a first attempt is made and recorded once, though its worker', () => {
  it.each<[string, Fault, { posts: number; latestMs: number }]>([
    ['dies before it reads what to do', { at: 'find', when: 'before', how: 'dies' }, { posts: 1, latestMs: again }],
    ['dies once it has read it', { at: 'find', when: 'after', how: 'dies' }, { posts: 1, latestMs: again }],
    ['cannot read what to do', { at: 'find', when: 'before', how: 'fails' }, { posts: 1, latestMs: again }],
    ['meets reads throttled once', { at: 'find', when: 'before', how: 'throttles' }, { posts: 1, latestMs: again }],
    ['dies before the post', { at: 'post', when: 'before', how: 'dies' }, { posts: 1, latestMs: again }],
    ['dies after the post', { at: 'post', when: 'after', how: 'dies' }, { posts: 2, latestMs: again }],
    [
      'dies before it writes the attempt down',
      { at: 'record', when: 'before', how: 'dies' },
      { posts: 2, latestMs: again },
    ],
    ['cannot write it down', { at: 'record', when: 'before', how: 'fails' }, { posts: 2, latestMs: again }],
    ['meets writes throttled once', { at: 'record', when: 'before', how: 'throttles' }, { posts: 2, latestMs: again }],
    ['dies once it has written it down', { at: 'record', when: 'after', how: 'dies' }, { posts: 1, latestMs: 0 }],
    [
      'has written it down and is not told so',
      { at: 'record', when: 'after', how: 'fails' },
      { posts: 1, latestMs: 0 },
    ],
    [
      'dies before its message is deleted',
      { at: 'acknowledge', when: 'before', how: 'dies' },
      { posts: 1, latestMs: 0 },
    ],
    [
      'meets reads throttled for 10 minutes',
      { at: 'find', when: 'before', how: 'throttles', until },
      { posts: 1, latestMs: 4 * again },
    ],
    [
      'meets writes throttled for 10 minutes',
      { at: 'record', when: 'before', how: 'throttles', until },
      { posts: 5, latestMs: 4 * again },
    ],
  ])('%s', async (_, fault, { posts, latestMs }) => {
    const pipeline = await pipelineWith(0, fault);
    expect(await pipeline.rest()).toEqual({ wrong: [], ends: { delivered: 1 }, latestMs });
    expect(pipeline.posts).toHaveLength(posts);
    expect(pipeline.queues.deadLetters).toEqual([]);
  });
});

describe('a late attempt is made and recorded once, though its worker', () => {
  it.each<[string, Fault, { posts: number; latestMs: number }]>([
    [
      'dies before it says that it begins',
      { at: 'begin late', when: 'before', how: 'dies' },
      { posts: 1, latestMs: 2 * again },
    ],
    ['dies once it has said so', { at: 'begin late', when: 'after', how: 'dies' }, { posts: 1, latestMs: 2 * again }],
    ['is not told that it has', { at: 'begin late', when: 'after', how: 'fails' }, { posts: 1, latestMs: 2 * again }],
    ['dies after the post', { at: 'post', when: 'after', how: 'dies' }, { posts: 2, latestMs: 2 * again }],
    ['dies once it has written it down', { at: 'record', when: 'after', how: 'dies' }, { posts: 1, latestMs: again }],
  ])('%s', async (_, fault, { posts, latestMs }) => {
    // Its first worker has died before it read anything.
    const pipeline = await pipelineWith(0, { at: 'find', when: 'before', how: 'dies' }, fault);
    expect(await pipeline.rest()).toEqual({ wrong: [], ends: { delivered: 1 }, latestMs });
    expect(pipeline.posts).toHaveLength(posts);
  });
});

describe('all retries are made, although a worker', () => {
  it.each<[string, Fault, { posts: number; latestMs: number }]>([
    [
      'dies between the record and the next message',
      { at: 'record', when: 'after', how: 'dies' },
      { posts: 4, latestMs: overdue },
    ],
    [
      'is not told that the record is written',
      { at: 'record', when: 'after', how: 'fails' },
      { posts: 4, latestMs: overdue },
    ],
    [
      'dies as it sends the next message',
      { at: 'send', when: 'before', how: 'dies', after: 1 },
      { posts: 4, latestMs: overdue },
    ],
    [
      'cannot send the next message',
      { at: 'send', when: 'before', how: 'fails', after: 1 },
      { posts: 4, latestMs: overdue },
    ],
    [
      'is not told that the next message is sent',
      { at: 'send', when: 'after', how: 'fails', after: 1 },
      { posts: 4, latestMs: 0 },
    ],
    [
      'dies once the next message is sent',
      { at: 'send', when: 'after', how: 'dies', after: 1 },
      { posts: 4, latestMs: 0 },
    ],
    ['dies before a hop is sent', { at: 'send', when: 'before', how: 'dies', after: 3 }, { posts: 4, latestMs: 0 }],
    [
      'dies between a hop and its message’s deletion',
      { at: 'send', when: 'after', how: 'dies', after: 3 },
      { posts: 4, latestMs: 0 },
    ],
    ['cannot send a hop', { at: 'send', when: 'before', how: 'fails', after: 3 }, { posts: 4, latestMs: 0 }],
    [
      'dies before it looks at an early message',
      { at: 'find', when: 'before', how: 'dies', after: 2 },
      { posts: 4, latestMs: 0 },
    ],
    [
      'dies after the post of a retry',
      { at: 'post', when: 'after', how: 'dies', after: 1 },
      { posts: 5, latestMs: overdue },
    ],
    [
      'dies before it takes a failed attempt off the list',
      { at: 'unlist', when: 'before', how: 'dies' },
      { posts: 4, latestMs: overdue },
    ],
    ['dies once it has taken it off', { at: 'unlist', when: 'after', how: 'dies' }, { posts: 4, latestMs: overdue }],
    ['cannot take it off', { at: 'unlist', when: 'before', how: 'fails' }, { posts: 4, latestMs: overdue }],
    [
      'dies with the last record written',
      { at: 'record', when: 'after', how: 'dies', after: 3 },
      { posts: 4, latestMs: 0 },
    ],
    [
      'dies before the last record is written',
      { at: 'record', when: 'before', how: 'dies', after: 3 },
      { posts: 5, latestMs: overdue },
    ],
  ])('%s', async (_, fault, { posts, latestMs }) => {
    const pipeline = await pipelineWith(Number.POSITIVE_INFINITY, fault);
    expect(await pipeline.rest()).toEqual({ wrong: [], ends: { exhausted: 1 }, latestMs });
    expect(pipeline.posts).toHaveLength(posts);
  });
});
