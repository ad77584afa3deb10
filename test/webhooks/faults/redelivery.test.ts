import { describe, expect, it } from 'vitest';
import { ulidOf } from '../../../lib/contract/ids.ts';
import { keys } from '../../../lib/table/access/keys.ts';
import { countItems } from '../../../lib/table/access/reads.ts';
import { idempotencyRecordWrites, readIdempotencyRecord } from '../../../lib/table/idempotency.ts';
import { type Fault, fault } from './faults.ts';
import { failing, type Pipeline, preparePipelines } from './pipeline.ts';

const createPipeline = await preparePipelines();
const minuteMs = 60_000;

/** The longest time until a sweep finds a redelivery. */
const atOnce = minuteMs;
/** How long the queue hides a message whose worker failed. */
const hiddenMs = 180_000;
/** How long a sweep leaves an item alone after it has moved its entry. */
const sweptAgainMs = 300_000;
/** How long an attempt waits that begins when it has just become late. */
const lateMs = 30_000;

/** Creates a pipeline with one delivery that has succeeded, or failed permanently, just after a sweep. */
async function createEnded(failures = 0) {
  const pipeline = createPipeline();
  await pipeline.register(failing(failures));
  pipeline.put(pipeline.change());
  await pipeline.settle();
  const [{ webhookId, deliveryId }] = pipeline.posts as [Pipeline['posts'][number]];
  pipeline.clock.now += 1;
  return {
    pipeline,
    delivery: { webhookId, deliveryId },
    posted: pipeline.posts.length,
    requestedAt: pipeline.clock(),
  };
}

/** Returns the number of recorded attempts. */
async function recordedOf({ table, organization }: Pipeline, webhookId: string) {
  const pk = keys.attemptScope(organization, ulidOf(webhookId)).rows;
  return countItems(table, { pk, from: 'A#', to: 'A#~' });
}

describe('a redelivery that was answered is made and recorded', () => {
  it.each<[string, Fault | undefined, posts: number, latestMs: number]>([
    ['without a fault', undefined, 1, atOnce],
    ['although the sweep dies before it reads the list', fault('dies before list'), 1, 2 * atOnce + lateMs],
    ['although the sweep cannot read the list', fault('fails before list'), 1, 2 * atOnce + lateMs],
    ['although the sweep dies before it postpones the entry', fault('dies before postpone'), 1, 2 * atOnce + lateMs],
    [
      'although the sweep dies after it postpones the entry',
      fault('dies after postpone'),
      1,
      sweptAgainMs + 2 * atOnce,
    ],
    ['although the sweep dies before it sends the message', fault('dies before send'), 1, sweptAgainMs + 2 * atOnce],
    ['although the sweep cannot send the message', fault('fails before send'), 1, sweptAgainMs + 2 * atOnce],
    ['although the sweep dies after it sends the message', fault('dies after send'), 1, atOnce],
    ['although the worker dies before it reads the items', fault('dies before find'), 1, atOnce + hiddenMs + lateMs],
    ['although the worker dies after it reads the items', fault('dies after find'), 1, atOnce + hiddenMs + lateMs],
    ['although the worker dies before the post', fault('dies before post'), 1, atOnce + hiddenMs + lateMs],
    ['twice if the worker dies after the post', fault('dies after post'), 2, atOnce + hiddenMs + lateMs],
    ['twice if the worker dies before the record', fault('dies before record'), 2, atOnce + hiddenMs + lateMs],
    ['twice if the worker cannot record it', fault('fails before record'), 2, atOnce + hiddenMs + lateMs],
    ['although the worker dies after the record', fault('dies after record'), 1, atOnce],
    ['although the worker dies before it unlists the entry', fault('dies before unlist'), 1, atOnce],
    ['although the worker dies after it unlists the entry', fault('dies after unlist'), 1, atOnce],
    ['although the worker dies before its message is deleted', fault('dies before acknowledge'), 1, atOnce],
  ])('%s', async (_, struck, posts, latestMs) => {
    const { pipeline, delivery, posted, requestedAt } = await createEnded();
    expect(await pipeline.redeliver(delivery)).toBe('done');
    if (struck) pipeline.faults.plan(struck);
    await pipeline.settle();
    expect(pipeline.faults.idle()).toEqual([]);
    const made = pipeline.posts.slice(posted);
    expect(made).toHaveLength(posts);
    for (const { at, ...post } of made) {
      expect(post).toEqual(delivery);
      expect(at - requestedAt).toBeLessThanOrEqual(latestMs);
    }
    expect(await recordedOf(pipeline, delivery.webhookId)).toBe(2);
    expect(pipeline.queues.held).toEqual([]);
    expect(pipeline.queues.deadLetters).toEqual([]);
  });

  it('although it is the fifth attempt, which fails, and its first message is lost', async () => {
    const { pipeline, delivery, posted } = await createEnded(Number.POSITIVE_INFINITY);
    expect(posted).toBe(4);
    pipeline.queues.lost.add(pipeline.queues.taken());
    expect(await pipeline.redeliver(delivery)).toBe('done');
    await pipeline.settle();
    expect(pipeline.posts).toHaveLength(5);
    expect(await recordedOf(pipeline, delivery.webhookId)).toBe(5);
  });
});

describe('a request with an Idempotency-Key that is repeated until it is answered leads to one attempt, although', () => {
  it.each<[string, Fault]>([
    ['the function dies before it stores the redelivery', fault('dies before store redelivery')],
    ['the function dies after it stores the redelivery', fault('dies after store redelivery')],
    ['the table stores nothing', fault('fails before store redelivery')],
    ['the response of the table is lost', fault('fails after store redelivery')],
    ['the table throttles the request', fault('throttles before store redelivery')],
  ])('%s', async (_, struck) => {
    const { pipeline, delivery, posted } = await createEnded();
    const request = { key: 'key', operation: 'POST', path: '/redeliver', body: undefined };
    const record = (data: unknown) => idempotencyRecordWrites(pipeline, pipeline.organization, request, { data });
    pipeline.faults.plan(struck);
    await pipeline.redeliver(delivery, record);
    await pipeline.redeliver(delivery, record);
    // Duplicate requests get the recorded response (test/http/middleware/idempotency).
    const { deliveryId } = delivery;
    const recorded = await readIdempotencyRecord(pipeline, pipeline.organization, request);
    expect(recorded).toEqual({ data: { deliveryId, state: 'pending', attempt: 2 } });
    await pipeline.settle();
    // A duplicate after the attempt.
    expect(await pipeline.redeliver(delivery, record)).toBe('failed');
    await pipeline.settle();
    expect(pipeline.faults.idle()).toEqual([]);
    expect(pipeline.posts).toHaveLength(posted + 1);
  });
});
