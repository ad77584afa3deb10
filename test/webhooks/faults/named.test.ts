import { beforeEach, describe, expect, it } from 'vitest';
import { deleteWebhook } from '../../../lib/webhooks/webhooks.ts';
import { opening } from '../test-webhooks.ts';
import type { Fault } from './faults.ts';
import { failing, type Pipeline, preparePipelines } from './pipeline.ts';
import { changesOf, openBoard } from './task-changes.ts';

const createPipeline = await preparePipelines();
let pipeline: Pipeline;

beforeEach(() => {
  pipeline = createPipeline();
});

/** Registers so many webhooks, whose receivers fail so often. */
async function register(failures: number, webhooks = 1): Promise<void> {
  for (let more = 0; more < webhooks; more++) await pipeline.register(failing(failures));
  // Just after a sweep, so that whatever needs one waits for it as long as can be.
  pipeline.clock.now += 1;
}

/**
 * Lets the pipeline come to rest and checks what holds after every fault: each change has one delivery a webhook, each of
 * them has come to its end, and nothing was posted beyond what could be written down but under the same id.
 */
async function expectWhole(ends: Record<string, number>, posts?: number): Promise<void> {
  expect(await pipeline.rest()).toMatchObject({ wrong: [], ends });
  expect(pipeline.queues.deadLetters).toEqual([]);
  if (posts !== undefined) expect(pipeline.posts).toHaveLength(posts);
}

const tenMinutes = opening + 600_000;

describe('nothing is lost, and nothing is delivered twice without need, by the fault', () => {
  it('killed after the table write, before the answer', async () => {
    await register(0);
    const board = openBoard(pipeline);
    pipeline.faults.plan({ at: 'write a task', when: 'after', how: 'dies' });
    expect(await board.create()).toBe('dead');
    expect(await board.expectAll()).toBe(1);
    pipeline.put(...(await changesOf(pipeline)));
    await expectWhole({ delivered: 1 }, 1);
  });

  it.each<[string, { webhooks?: number; failures: number; posts: number }, Fault]>([
    [
      'killed between stream read and queue send',
      { failures: 0, posts: 1 },
      { at: 'send', when: 'before', how: 'dies' },
    ],
    [
      'killed with half of a batch sent',
      { webhooks: 4, failures: 0, posts: 4 },
      { at: 'send', when: 'half', how: 'dies' },
    ],
    ['refused half of a batch', { webhooks: 4, failures: 0, posts: 4 }, { at: 'send', when: 'half', how: 'fails' }],
    // The one of them that the receiver hears of twice: nobody can know that the first post has arrived.
    ['killed after the POST, before the record', { failures: 0, posts: 2 }, { at: 'post', when: 'after', how: 'dies' }],
    [
      'killed after the record, before the requeue',
      { failures: 2, posts: 3 },
      { at: 'send', when: 'before', how: 'dies', after: 1 },
    ],
    [
      'killed after the next hop is sent, before the delete',
      { failures: 2, posts: 3 },
      { at: 'send', when: 'after', how: 'dies', after: 3 },
    ],
    [
      'table throttling of reads',
      { failures: 2, posts: 3 },
      { at: 'find', when: 'before', how: 'throttles', until: tenMinutes },
    ],
    [
      'table throttling of writes',
      { failures: 2, posts: 3 },
      { at: 'append', when: 'before', how: 'throttles', until: tenMinutes },
    ],
    [
      'queue refusing sends',
      { failures: 2, posts: 3 },
      { at: 'send', when: 'before', how: 'fails', until: tenMinutes },
    ],
  ])('%s', async (_, { webhooks = 1, failures, posts }, fault) => {
    await register(failures, webhooks);
    pipeline.faults.plan(fault);
    pipeline.put(pipeline.change());
    await expectWhole({ delivered: webhooks }, posts);
  });

  it('duplicate stream records', async () => {
    await register(2);
    const change = pipeline.change();
    pipeline.put(change, change);
    pipeline.put(change);
    await pipeline.settle();
    pipeline.put(change);
    await expectWhole({ delivered: 1 }, 3);
  });

  it('re-ordered stream records', async () => {
    await register(2);
    const changes = [1, 2, 3].map(() => {
      pipeline.clock.now += 1_000;
      return pipeline.change();
    });
    pipeline.put(...changes.toReversed());
    await expectWhole({ delivered: 3 }, 5);
  });

  it('the same message to two consumers at once', async () => {
    await register(2);
    await pipeline.publish([pipeline.change()]);
    while (pipeline.queues.held.length > 0) {
      pipeline.clock.now = Math.max(pipeline.clock(), pipeline.queues.nextAt());
      await Promise.all(pipeline.queues.receive().flatMap((held) => [pipeline.work(held), pipeline.work(held)]));
    }
    // How many posts that takes is a matter of luck: each of them knows of no other that was not recorded.
    await expectWhole({ delivered: 1 });
  });

  it('webhook deleted while a retry waits', async () => {
    const { id } = await pipeline.register(failing(2));
    await pipeline.publish([pipeline.change()]);
    await pipeline.deliver();
    await deleteWebhook(pipeline, pipeline.organization, id);
    await expectWhole({ dropped: 1 }, 1);
  });
});
