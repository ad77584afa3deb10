import { describe, expect, it } from 'vitest';
import type { RecoveryStarted } from '../../../lib/contract/webhooks/recoveries.ts';
import { createLogClock } from '../../../lib/table/events/log-clock.ts';
import { idempotencyRecordWrites, readIdempotencyRecord } from '../../../lib/table/idempotency.ts';
import { getRecovery } from '../../../lib/webhooks/recoveries/recovery.ts';
import { updateWebhook } from '../../../lib/webhooks/webhooks.ts';
import { type Fault, fault } from './faults.ts';
import { failing, type Pipeline, preparePipelines } from './pipeline.ts';

const createPipeline = await preparePipelines();

/** The maximum number of events that a receiver gets from a recovery in a second. */
const rate = 10;
/** The parts of a context that its clock of the log needs. */
const ownClock = (clock: () => number) => ({
  batchers: {},
  monotonic: clock,
  ownsLogs: false,
  logClock: createLogClock(clock, clock),
});
/** The number of events that the webhook has missed. */
const missed = 12;
/** A sweep reads this number of lists for its deliveries before it reads the list of recoveries. */
const otherLists = 13;
const request = { key: 'key', operation: 'POST', path: '/recover', body: undefined };

/** Creates a pipeline with a webhook that has missed 12 events: 2 whose attempts all failed, and 10 before its subscription. */
async function createMissed() {
  const pipeline = createPipeline();
  const { organization, clock } = pipeline;
  const { id } = await pipeline.register(failing(8));
  pipeline.put(pipeline.change(), pipeline.change());
  pipeline.put(...Array.from({ length: 10 }, () => pipeline.change('task.completed')));
  await pipeline.settle();
  clock.now += 1;
  const events = ['task.created', 'task.completed'] as const;
  await updateWebhook(
    { ...pipeline, ...ownClock(clock), allowedReceivers: [] as never },
    organization,
    id,
    { events: [...events] },
    () => {},
  );
  expect(pipeline.posts).toHaveLength(8);
  return { pipeline, id, posted: 8 };
}

/** Requests a recovery with an Idempotency-Key until it is answered, and returns the response. */
async function recover(pipeline: Pipeline, id: string): Promise<RecoveryStarted> {
  const { organization } = pipeline;
  const record = (data: unknown) => idempotencyRecordWrites(pipeline, organization, request, { data });
  for (let turn = 0; turn < 3; turn++) {
    await pipeline.recover(id, record);
    const recorded = await readIdempotencyRecord(pipeline, organization, request);
    if (typeof recorded === 'object') return recorded.data as RecoveryStarted;
  }
  throw new Error('The recovery was not stored.');
}

/** Returns the largest number of posts in a second. */
function mostInSecond(posts: Pipeline['posts']): number {
  return Math.max(...posts.map(({ at: from }) => posts.filter(({ at }) => at >= from && at < from + 1_000).length));
}

describe('a recovery sends each event once at its rate, and is completed,', () => {
  it.each<[string, Fault | undefined, repeated?: number]>([
    ['without a fault', undefined],
    ['although the function dies before it stores the recovery', fault('dies before store recovery')],
    ['although the function dies after it stores the recovery', fault('dies after store recovery')],
    ['although the table stores nothing', fault('fails before store recovery')],
    ['although the response of the table is lost', fault('fails after store recovery')],
    ['although the sweep dies before it reads the list', fault('dies before list', { after: otherLists })],
    ['although the sweep cannot read the list', fault('fails before list', { after: otherLists })],
    ['although the sweep dies before it takes the recovery', fault('dies before postpone')],
    ['although the sweep dies after it takes the recovery', fault('dies after postpone')],
    ['although the sweep dies before it stores an attempt', fault('dies before store redelivery')],
    ['although the sweep dies after half of the attempts', fault('dies after store redelivery', { after: 6 })],
    ['although the table stores an attempt without an answer', fault('fails after store redelivery', { after: 6 })],
    ['although the table throttles an attempt', fault('throttles before store redelivery', { after: 6 })],
    ['although the sweep dies before it sends the messages', fault('dies before send')],
    ['although the sweep cannot send the messages', fault('fails before send')],
    ['although the sweep dies after it sends the messages', fault('dies after send')],
    ['although the sweep dies before it stores the progress', fault('dies before store progress')],
    ['although the sweep dies after it stores the progress', fault('dies after store progress')],
    ['although the sweep cannot store the progress', fault('fails before store progress')],
    ['although the sweep gets no answer after it stores the progress', fault('fails after store progress')],
    ['although the sweep dies before it stores the end', fault('dies before store progress', { after: 1 })],
    ['although the sweep dies after it stores the end', fault('dies after store progress', { after: 1 })],
    ['although a worker dies before it reads the items', fault('dies before post', { after: 3 })],
    ['except for one that is posted by a worker that dies', fault('dies after post', { after: 3 }), 1],
    ['except for one whose record is not stored', fault('fails before record', { after: 3 }), 1],
    ['although a worker dies after the record', fault('dies after record', { after: 3 })],
    ['although a worker dies before its message is deleted', fault('dies before acknowledge', { after: 3 })],
  ])('%s', async (_, struck, repeated = 0) => {
    const { pipeline, id, posted } = await createMissed();
    if (struck) pipeline.faults.plan(struck);
    const { matched, recoveryId = '' } = await recover(pipeline, id);
    expect(matched).toBe(missed);
    await pipeline.settle();
    expect(pipeline.faults.idle()).toEqual([]);
    const made = pipeline.posts.slice(posted);
    expect(new Set(made.map(({ deliveryId }) => deliveryId)).size).toBe(missed);
    expect(made).toHaveLength(missed + repeated);
    expect(mostInSecond(made)).toBeLessThanOrEqual(rate);
    expect(await getRecovery(pipeline.reader, pipeline.organization, id, recoveryId)).toMatchObject({
      ...{ status: 'completed', sent: missed, delivered: missed, failed: 0 },
    });
    expect(pipeline.queues.held).toEqual([]);
    expect(pipeline.queues.deadLetters).toEqual([]);
  });

  it('although every message of its first sweep is lost', async () => {
    const { pipeline, id, posted } = await createMissed();
    const taken = pipeline.queues.taken();
    for (let at = 0; at < missed; at++) pipeline.queues.lost.add(taken + at);
    await recover(pipeline, id);
    await pipeline.settle();
    const made = pipeline.posts.slice(posted);
    expect(made).toHaveLength(missed);
    expect(mostInSecond(made)).toBeLessThanOrEqual(rate);
  });

  it('although every message is received twice', async () => {
    const { pipeline, id, posted } = await createMissed();
    await recover(pipeline, id);
    await pipeline.sweep();
    pipeline.clock.now += 30_000;
    for (const held of pipeline.queues.receive()) {
      await pipeline.work({ ...held });
      await pipeline.work(held);
    }
    await pipeline.settle();
    expect(pipeline.posts).toHaveLength(posted + missed);
  });
});

it('two sweeps at the same time continue a recovery once', async () => {
  const { pipeline, id, posted } = await createMissed();
  await recover(pipeline, id);
  await Promise.all([pipeline.sweep(), pipeline.sweep()]);
  await pipeline.settle();
  expect(pipeline.posts).toHaveLength(posted + missed);
});
