import { DeleteCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { closeAttemptCounts } from '../../../lib/table/deliveries/attempt-counts.ts';
import type { Item } from '../../../lib/table/write.ts';
import { readRetrySchedule } from '../../../lib/webhooks/deliveries/retry-schedule.ts';
import { listWebhooks } from '../../../lib/webhooks/webhooks.ts';
import { dumpOf } from '../../table-dump.ts';
import { failing, type Pipeline, preparePipelines } from '../faults/pipeline.ts';
import { checkPipeline, type Known } from './check-pipeline.ts';

const createPipeline = await preparePipelines();
let pipeline: Pipeline;
let known: Known;

beforeEach(async () => {
  pipeline = createPipeline();
  await pipeline.register(failing(1));
  pipeline.put(pipeline.change());
  await pipeline.settle();
  known = {
    expected: pipeline.expected,
    posts: pipeline.posts,
    retrySchedule: readRetrySchedule(undefined),
    now: pipeline.clock(),
  };
});

/** Replaces the nth item whose sort key starts with a text, or deletes it. */
async function spoil(start: string, change: (item: Item) => Item | undefined, nth = 0): Promise<void> {
  const TableName = pipeline.table.name;
  const items = Object.values(await dumpOf(pipeline.table, pipeline.organization)) as (Item & { sk: string })[];
  const item = items.filter(({ sk }) => sk.startsWith(start)).sort((a, b) => (a.sk < b.sk ? -1 : 1))[nth] as Item;
  const Item = change({ ...item });
  if (!Item || Item.sk !== item.sk)
    await pipeline.table.client.send(new DeleteCommand({ TableName, Key: { pk: item.pk, sk: item.sk } }));
  if (Item) await pipeline.table.client.send(new PutCommand({ TableName, Item }));
}

const wrong = async (more: Partial<Known> = {}) =>
  (await checkPipeline(pipeline.table, pipeline.organization, { ...known, ...more })).wrong.join('; ');

describe('the check of a pipeline', () => {
  it('finds no fault in a correct pipeline', async () => {
    const whole = await checkPipeline(pipeline.table, pipeline.organization, known);
    expect(whole).toEqual({ wrong: [], ends: { delivered: 1 }, latestMs: 0 });
  });

  it.each<[string, (item: Item) => Item | undefined, RegExp, number?]>([
    ['a delivery of something else', (item) => ({ ...item, event: 'task.completed' }), /1 deliveries, not 0/],
    [
      'a delivery that has not ended',
      (item) => ({ ...item, error: 'x', nextAttemptAt: 'x' }),
      /waits for attempt 3/,
      1,
    ],
    ['an end too soon', (item) => ({ ...item, error: 'x' }), /is exhausted after attempt 2/, 1],
    ['an attempt that the sweeper still has', (item) => ({ ...item, due: '0', dueAt: 'x' }), /is on the list/],
    ['an attempt that is gone', () => undefined, /was posted 2 times, .* not 1/, 1],
    ['an attempt of another number', (item) => ({ ...item, attempt: 3 }), /has attempt 3 as its number 2/],
    ['a redelivery that is none', (item) => ({ ...item, redelivery: true }), /with redelivery true/],
    ['an attempt after a success', ({ error: _, ...item }) => item, /went on after the success of attempt 1/],
    ['a first attempt by another id', (item) => ({ ...item, id: 'dlv_x' }), /attempt 1 under the id dlv_x/],
    ['a retry by the delivery’s id', (item) => ({ ...item, id: item.deliveryId }), /has attempts of one id/, 1],
    ['an attempt before its time', (item) => ({ ...item, deliveredAt: '2026-03-01T12:00:30.000Z' }), /30000 ms early/],
  ])('finds %s', async (_, change, fault, nth) => {
    await spoil('A#', change, nth);
    expect(await wrong()).toMatch(fault);
  });

  it('finds a number of attempts that is wrong', async () => {
    const [webhook] = await listWebhooks(pipeline, pipeline.organization);
    await closeAttemptCounts(
      { table: pipeline.table },
      pipeline.organization,
      webhook?.id as string,
      pipeline.clock() + 86_400_000,
    );
    await spoil('closed', (item) => ({ ...item, '2026-03-01': 7 }));
    expect(await wrong()).toMatch(/7 attempts of wh_.{26} are counted, there are 2/);
  });

  it('finds a repeated post, unless its worker was lost', async () => {
    const [first] = known.posts;
    const posts = [...known.posts, ...(first ? [first] : [])];
    expect(await wrong({ posts })).toMatch(/was posted 3 times, of which 0 could not be recorded, not 2/);
    expect(await wrong({ posts, unrecorded: [first?.deliveryId ?? ''] })).toBe('');
  });

  it('finds a post that is missing', async () => {
    expect(await wrong({ posts: known.posts.slice(1) })).toMatch(/was posted 1 times/);
    expect(await wrong({ unrecorded: known.posts.slice(1).map(({ deliveryId }) => deliveryId) })).not.toBe('');
  });

  it('finds a post to another webhook, a moment early, or of no delivery', async () => {
    const [first, second] = known.posts;
    const change = (fields: object) => ({ posts: [first, { ...second, ...fields }] as Known['posts'] });
    expect(await wrong(change({ webhookId: 'wh_x' }))).toMatch(/was posted to wh_x/);
    expect(await wrong(change({ at: (second?.at ?? 0) - 1 }))).toMatch(/was posted 1 ms early/);
    expect(await wrong(change({ deliveryId: 'dlv_x' }))).toMatch(/dlv_x is no delivery/);
  });

  it('finds an event that was delivered twice, and one that was not delivered', async () => {
    expect(await wrong({ expected: [] })).toMatch(/1 deliveries, not 0/);
    expect(await wrong({ expected: [...known.expected, ...known.expected] })).toMatch(/1 deliveries, not 2/);
  });

  it('returns how late the latest attempt was', async () => {
    const later = '2026-03-01T12:06:40.000Z';
    await spoil('A#', (item) => ({ ...item, deliveredAt: later }), 1);
    expect(await checkPipeline(pipeline.table, pipeline.organization, known)).toMatchObject({ latestMs: 100_000 });
  });
});
