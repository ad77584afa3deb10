import { describe, expect, it } from 'vitest';
import { timestamp } from '../../../lib/contract/ids.ts';
import { keys } from '../../../lib/table/access/keys.ts';
import { leaseSlowAttempt, markWebhookSlow } from '../../../lib/table/webhooks/webhook-attempts.ts';
import { dumpOf } from '../../table/fixtures/table-dump.ts';
import { type Fault, fault } from './faults.ts';
import { failing, preparePipelines } from './pipeline.ts';

const createPipeline = await preparePipelines();
const minuteMs = 60_000;
/** The number of attempts of a slow webhook that can run at the same time in a pipeline. */
const leases = 30;

/**
 * Creates a pipeline with an attempt of a slow webhook that has waited for 40 s for a lease: the first one, or the retry after one
 * that failed. No lease is free for the next 5 s.
 */
async function createWaiting(kind: 'first attempt' | 'retry') {
  const pipeline = createPipeline();
  const { organization, clock } = pipeline;
  const posted = kind === 'retry' ? 1 : 0;
  const { id } = await pipeline.register(failing(posted));
  pipeline.put(pipeline.change());
  await pipeline.publishStream();
  if (kind === 'retry') {
    await pipeline.deliver();
    clock.now += 5 * minuteMs;
  }
  await markWebhookSlow(pipeline, organization, id);
  // The message goes to the queue of slow webhooks.
  await pipeline.deliver();
  expect(pipeline.posts).toHaveLength(posted);
  clock.now += 40_000;
  const [now, until] = [timestamp(clock()), timestamp(clock() + 5_000)];
  for (let number = 0; number < leases; number++)
    expect(await leaseSlowAttempt(pipeline, organization, id, { number, now, until })).toBe(true);
  return { pipeline, posted };
}

type Waiting = Awaited<ReturnType<typeof createWaiting>>;

/** Settles; expects that the attempt was made as often as given, and that nothing remains. Returns how late it was. */
async function settle({ pipeline, posted }: Waiting, posts = 1): Promise<number> {
  const { wrong, ends, latestMs } = await pipeline.rest();
  expect(wrong).toEqual([]);
  expect(ends).toEqual({ delivered: 1 });
  expect(pipeline.posts).toHaveLength(posted + posts);
  const items = Object.keys(await dumpOf(pipeline.table, pipeline.organization));
  expect(items.filter((key) => key.includes(` ${keys.parkedPrefix}`))).toEqual([]);
  expect([pipeline.queues.held, pipeline.queues.deadLetters]).toEqual([[], []]);
  return latestMs;
}

describe.each(['first attempt', 'retry'] as const)('a %s that waits long for a slow receiver is made', (kind) => {
  it.each<[string, Fault | undefined, posts?: number]>([
    ['without a fault', undefined],
    ['although its worker cannot read its item', fault('fails before find', { after: 1 })],
    ['although its worker dies before it stores its item', fault('dies before store waiting')],
    ['although its worker dies after it stores its item', fault('dies after store waiting')],
    ['although the table does not store its item', fault('fails before store waiting')],
    ['although the response of the table is lost', fault('fails after store waiting')],
    ['although its worker dies before it sends the message', fault('dies before send to the slow queue')],
    ['although its worker cannot send the message', fault('fails before send to the slow queue')],
    ['although its worker dies after it sends the message', fault('dies after send to the slow queue')],
    ['although its message comes twice', fault('dies before acknowledge')],
    ['although its worker dies before the post', fault('dies before post')],
    ['twice if its worker dies after the post', fault('dies after post'), 2],
    ['although its worker dies after the record', fault('dies after record')],
    ['although its worker dies before it removes its item', fault('dies before remove parked')],
    ['although its worker dies after it removes its item', fault('dies after remove parked')],
  ])('%s', async (_, struck, posts) => {
    const waiting = await createWaiting(kind);
    if (struck) waiting.pipeline.faults.plan(struck);
    expect(await settle(waiting, posts)).toBeLessThan(5 * minuteMs);
  });

  it('at most 15 minutes after it was due, although its message is lost while it waits', async () => {
    const waiting = await createWaiting(kind);
    await waiting.pipeline.deliver();
    expect(waiting.pipeline.queues.held).toHaveLength(1);
    waiting.pipeline.queues.held.length = 0;
    expect(await settle(waiting)).toBeLessThanOrEqual(15 * minuteMs);
  });
});

it.each([
  ['dies before it unlists the row before', fault('dies before unlist')],
  ['dies after it unlists the row before', fault('dies after unlist')],
  ['cannot unlist the row before', fault('fails before unlist')],
])('a retry that waits long for a slow receiver is made although its worker %s', async (_, struck) => {
  const waiting = await createWaiting('retry');
  waiting.pipeline.faults.plan(struck);
  expect(await settle(waiting)).toBeLessThan(5 * minuteMs);
});

it('a first attempt for a slow receiver is made at most 15 minutes after it was due, although its first message is lost', async () => {
  const waiting = await createWaiting('first attempt');
  waiting.pipeline.queues.held.length = 0;
  expect(await settle(waiting)).toBeLessThanOrEqual(15 * minuteMs);
});
