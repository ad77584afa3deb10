import { describe, expect, it } from 'vitest';
import { ulidOf } from '../../../lib/contract/ids.ts';
import { keys } from '../../../lib/table/keys.ts';
import { dumpOf } from '../../table-dump.ts';
import { type Fault, fault } from './faults.ts';
import { failing, type Pipeline, preparePipelines } from './pipeline.ts';

const createPipeline = await preparePipelines();
const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

/** Creates a pipeline with a webhook whose delivery has failed once, and pauses the webhook before the retry is due. */
async function createPaused() {
  const pipeline = createPipeline();
  const webhook = await pipeline.register(failing(1));
  pipeline.put(pipeline.change());
  await pipeline.publishStream();
  await pipeline.deliver();
  expect(pipeline.posts).toHaveLength(1);
  pipeline.clock.now += minuteMs;
  expect(await pipeline.update(webhook.id, { active: false })).toBe('done');
  return { pipeline, id: webhook.id, pausedAt: pipeline.clock() };
}

/** Returns the numbers of parked attempts and of releases. */
async function parkedIn({ table, organization }: Pipeline, id: string) {
  const { pk } = keys.parkedAttempt(organization, ulidOf(id), '', 0);
  const items = Object.values(await dumpOf(table, organization)) as { pk: string; sk: string }[];
  return {
    parked: items.filter((item) => item.pk === pk && item.sk.startsWith('P#')).length,
    releases: items.filter((item) => item.pk === keys.parkedRelease(organization, ulidOf(id)).pk).length,
  };
}

/** Ends the pause a day later, and settles; expects that the retry was made once or as often as given. */
async function resume({ pipeline, id }: { pipeline: Pipeline; id: string }, struck?: Fault, posts = 2) {
  pipeline.clock.now += dayMs;
  // A caller repeats a request until it is answered.
  if (struck) pipeline.faults.plan(struck);
  while ((await pipeline.update(id, { active: true })) !== 'done');
  const { wrong, ends } = await pipeline.rest();
  expect(wrong).toEqual([]);
  expect(ends).toEqual({ delivered: 1 });
  expect(pipeline.posts).toHaveLength(posts);
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
    const paused = await createPaused();
    const { pipeline, id } = paused;
    if (struck) pipeline.faults.plan(struck);
    await pipeline.settle();
    expect(pipeline.faults.idle()).toEqual([]);
    expect(pipeline.posts).toHaveLength(1);
    expect(await parkedIn(pipeline, id)).toEqual({ parked: 1, releases: 0 });
    await resume(paused);
  });

  it('although its message is lost in the pause', async () => {
    const paused = await createPaused();
    paused.pipeline.queues.held.length = 0;
    await paused.pipeline.settle();
    expect(await parkedIn(paused.pipeline, paused.id)).toEqual({ parked: 1, releases: 0 });
    await resume(paused);
  });
});

describe('the retry is made after the pause', () => {
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
    ['although the sweep dies before it lists the retry', fault('dies before list again')],
    ['although the sweep dies after it lists the retry', fault('dies after list again')],
    ['although the sweep dies before it sends the message', fault('dies before send')],
    ['although the sweep cannot send the message', fault('fails before send')],
    ['although the sweep dies after it sends the message', fault('dies after send')],
    ['although the sweep dies before it removes the parked attempt', fault('dies before remove parked')],
    ['although the sweep dies after it removes the parked attempt', fault('dies after remove parked')],
    ['although the sweep dies before it removes the release', fault('dies before remove release')],
    ['although the sweep dies after it removes the release', fault('dies after remove release')],
    ['although the worker dies before the post', fault('dies before post')],
    ['twice if the worker dies after the post', fault('dies after post'), 3],
    ['twice if the worker dies before the record', fault('dies before record'), 3],
    ['although the worker dies after the record', fault('dies after record')],
    ['although the worker dies before it unlists the retry', fault('dies before unlist')],
  ])('%s', async (_, struck, posts) => {
    const paused = await createPaused();
    await paused.pipeline.settle();
    await resume(paused, struck, posts);
  });

  it('although its first message after the pause is lost', async () => {
    const paused = await createPaused();
    const { pipeline } = paused;
    await pipeline.settle();
    pipeline.queues.lost.add(pipeline.queues.taken());
    await resume(paused);
  });
});

describe('the items of a pause are removed with the webhook,', () => {
  it.each<[string, Fault | undefined]>([
    ['without a fault', undefined],
    ['although the sweep dies before it removes the parked attempt', fault('dies before remove parked')],
    ['although the sweep dies after it removes the parked attempt', fault('dies after remove parked')],
    ['although the sweep dies before it removes the release', fault('dies before remove release')],
  ])('%s', async (_, struck) => {
    const { pipeline, id } = await createPaused();
    await pipeline.settle();
    if (struck) pipeline.faults.plan(struck);
    expect(await pipeline.remove(id)).toBe('done');
    await pipeline.settle();
    expect(pipeline.faults.idle()).toEqual([]);
    expect(await parkedIn(pipeline, id)).toEqual({ parked: 0, releases: 0 });
    expect(pipeline.posts).toHaveLength(1);
  });
});
