import { describe, expect, it } from 'vitest';
import { ulidOf } from '../../../lib/contract/ids.ts';
import { keys } from '../../../lib/table/access/keys.ts';
import { dumpOf } from '../../table/fixtures/table-dump.ts';
import { type Fault, fault } from './faults.ts';
import { failing, type Pipeline, preparePipelines } from './pipeline.ts';

const createPipeline = await preparePipelines();
const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

type Paused = { pipeline: Pipeline; id: string; posted: number };

/**
 * Creates a pipeline with a webhook that is paused before an attempt is made: the first one, whose message is in the queue,
 * or the retry after one that failed.
 */
async function createPaused(kind: 'first attempt' | 'retry'): Promise<Paused> {
  const pipeline = createPipeline();
  const posted = kind === 'retry' ? 1 : 0;
  const { id } = await pipeline.register(failing(posted));
  pipeline.put(pipeline.change());
  await pipeline.publishStream();
  if (kind === 'retry') await pipeline.deliver();
  expect(pipeline.posts).toHaveLength(posted);
  pipeline.clock.now += minuteMs;
  expect(await pipeline.update(id, { active: false })).toBe('done');
  return { pipeline, id, posted };
}

/** Returns the numbers of parked attempts and of releases. */
async function parkedIn({ table, organization }: Pipeline, id: string) {
  const items = Object.values(await dumpOf(table, organization)) as { pk: string; sk: string }[];
  return {
    parked: items.filter((item) => item.pk.includes(`#WP#${ulidOf(id)}#`)).length,
    releases: items.filter((item) => item.pk === keys.parkedRelease(organization, ulidOf(id)).pk).length,
  };
}

/** Ends the pause a day later, and settles; expects that the attempt was made once or as often as given. */
async function resume({ pipeline, id, posted }: Paused, struck?: Fault, posts = 1) {
  pipeline.clock.now += dayMs;
  // A caller repeats a request until it is answered.
  if (struck) pipeline.faults.plan(struck);
  while ((await pipeline.update(id, { active: true })) !== 'done');
  const { wrong, ends } = await pipeline.rest();
  expect(wrong).toEqual([]);
  expect(ends).toEqual({ delivered: 1 });
  expect(pipeline.posts).toHaveLength(posted + posts);
  expect(await parkedIn(pipeline, id)).toEqual({ parked: 0, releases: 0 });
  expect(pipeline.queues.held).toEqual([]);
  expect(pipeline.queues.deadLetters).toEqual([]);
}

describe('a retry that comes due in a pause is parked, and made after the pause,', () => {
  it.each<[string, Fault | undefined]>([
    ['without a fault', undefined],
    ['although the worker dies before it parks the retry', fault('dies before park')],
    ['although the worker dies after it parks the retry', fault('dies after park')],
    ['although the table does not park it', fault('fails before park')],
    ['although the response of the table is lost', fault('fails after park')],
    ['although the worker dies before it unlists the retry', fault('dies before unlist')],
    ['although the worker dies after it unlists the retry', fault('dies after unlist')],
    ['although the worker dies before it reads the webhook again', fault('dies before read webhook')],
    ['although the worker cannot read the webhook again', fault('fails before read webhook')],
    ['although the worker dies before its message is deleted', fault('dies before acknowledge')],
  ])('%s', async (_, struck) => {
    const paused = await createPaused('retry');
    const { pipeline, id } = paused;
    if (struck) pipeline.faults.plan(struck);
    await pipeline.settle();
    expect(pipeline.faults.idle()).toEqual([]);
    expect(pipeline.posts).toHaveLength(1);
    expect(await parkedIn(pipeline, id)).toEqual({ parked: 1, releases: 0 });
    await resume(paused);
  });

  it('although its message is lost in the pause', async () => {
    const paused = await createPaused('retry');
    paused.pipeline.queues.held.length = 0;
    await paused.pipeline.settle();
    expect(await parkedIn(paused.pipeline, paused.id)).toEqual({ parked: 1, releases: 0 });
    await resume(paused);
  });
});

describe.each(['first attempt', 'retry'] as const)('the parked %s is made after the pause', (kind) => {
  it.each<[string, Fault, posts?: number]>([
    ['although the request dies before it stores the end of the pause', fault('dies before store pause')],
    ['although the request dies after it stores the end of the pause', fault('dies after store pause')],
    ['although the response of the table is lost', fault('fails after store pause')],
    ['although the sweep dies before it reads the list', fault('dies before list')],
    ['although the sweep dies before it postpones the release', fault('dies before postpone')],
    ['although the sweep dies after it postpones the release', fault('dies after postpone')],
    ['although the sweep dies before it reads the webhook', fault('dies before read webhook', { after: 1 })],
    ['although the sweep dies before it reads the parked attempts', fault('dies before read parked')],
    ['although the sweep cannot read the parked attempts', fault('fails before read parked')],
    ['although the sweep dies before it lists the attempt', fault('dies before list again')],
    ['although the sweep dies after it lists the attempt', fault('dies after list again')],
    ['although the sweep dies before it sends the message', fault('dies before send')],
    ['although the sweep cannot send the message', fault('fails before send')],
    ['although the sweep dies after it sends the message', fault('dies after send')],
    ['although the sweep dies before it removes the release', fault('dies before remove release')],
    ['although the sweep dies after it removes the release', fault('dies after remove release')],
    ['although the worker dies before the post', fault('dies before post')],
    ['twice if the worker dies after the post', fault('dies after post'), 2],
    ['twice if the worker dies before the record', fault('dies before record'), 2],
    ['although the worker dies after the record', fault('dies after record')],
    ['although the worker dies before it removes the parked attempt', fault('dies before remove parked')],
    ['although the worker dies after it removes the parked attempt', fault('dies after remove parked')],
  ])('%s', async (_, struck, posts) => {
    const paused = await createPaused(kind);
    await paused.pipeline.settle();
    await resume(paused, struck, posts);
  });

  it('although its first message after the pause is lost', async () => {
    const paused = await createPaused(kind);
    const { pipeline } = paused;
    await pipeline.settle();
    pipeline.queues.lost.add(pipeline.queues.taken());
    await resume(paused);
  });

  it('although the webhook is paused again before, and the message is lost', async () => {
    const paused = await createPaused(kind);
    const { pipeline, id } = paused;
    await pipeline.settle();
    pipeline.clock.now += dayMs;
    expect(await pipeline.update(id, { active: true })).toBe('done');
    await pipeline.sweep();
    pipeline.queues.held.length = 0;
    pipeline.clock.now += 1;
    expect(await pipeline.update(id, { active: false })).toBe('done');
    await pipeline.settle();
    expect(await parkedIn(pipeline, id)).toEqual({ parked: 1, releases: 0 });
    await resume(paused);
  });
});

describe('the items of a pause are removed with the webhook,', () => {
  it.each<[string, Fault | undefined]>([
    ['without a fault', undefined],
    ['although the sweep dies before it removes the release', fault('dies before remove release')],
  ])('%s', async (_, struck) => {
    const { pipeline, id } = await createPaused('retry');
    await pipeline.settle();
    if (struck) pipeline.faults.plan(struck);
    expect(await pipeline.remove(id)).toBe('done');
    await pipeline.settle();
    expect(pipeline.faults.idle()).toEqual([]);
    expect(await parkedIn(pipeline, id)).toEqual({ parked: 0, releases: 0 });
    expect(pipeline.posts).toHaveLength(1);
  });
});
