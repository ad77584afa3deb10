import { DeleteCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Item } from '../../../lib/table/access/write.ts';
import { dumpOf } from '../../table/fixtures/table-dump.ts';
import { failing, type Pipeline, preparePipelines } from '../faults/pipeline.ts';
import type { Posted } from './check-pipeline.ts';

const createPipeline = await preparePipelines();
let pipeline: Pipeline;

beforeEach(async () => {
  pipeline = createPipeline();
  await pipeline.register(failing(1));
  pipeline.put(pipeline.change());
  await pipeline.settle();
});

/** Replaces the row of the nth attempt, or deletes it. */
async function spoil(change: (item: Item) => Item | undefined, nth: number): Promise<void> {
  const { client, name: TableName } = pipeline.table;
  const rows = Object.entries(await dumpOf(pipeline.table, pipeline.organization)).filter(([key]) =>
    key.includes(' A#'),
  );
  const row = rows.sort()[nth]?.[1] as Item;
  const Item = change({ ...row });
  if (Item) await client.send(new PutCommand({ TableName, Item }));
  else await client.send(new DeleteCommand({ TableName, Key: { pk: row.pk, sk: row.sk } }));
}

const findFaults = async () => (await pipeline.check()).wrong.join('; ');

describe('the check of a pipeline', () => {
  it('finds no fault in a correct pipeline', async () => {
    expect(await pipeline.check()).toEqual({ wrong: [], ends: { delivered: 1 }, latestMs: 0, posts: 2 });
  });

  it.each<[string, (item: Item) => Item | undefined, RegExp, number]>([
    ['a delivery of something else', (item) => ({ ...item, event: 'task.completed' }), /1 deliveries, not 0/, 0],
    ['no end', (item) => ({ ...item, error: 'x', nextAttemptAt: 'x' }), /waits for attempt 3/, 1],
    ['an end too soon', (item) => ({ ...item, error: 'x' }), /is exhausted after attempt 2/, 1],
    ['an attempt that the sweeper still has', (item) => ({ ...item, due: '0', dueAt: 'x' }), /is on the list/, 0],
    ['an attempt that is gone', () => undefined, /was posted 2 times, .* not 1/, 1],
    ['an attempt after a success', ({ error, ...item }) => item, /went on after the success of attempt 1/, 0],
    ['an early post', (item) => ({ ...item, deliveredAt: '2026-03-01T12:00:30.000Z' }), /30000 ms early/, 0],
  ])('finds %s', async (_, change, fault, nth) => {
    await spoil(change, nth);
    expect(await findFaults()).toMatch(fault);
  });

  it('finds a repeated, a missing and an unexpected post', async () => {
    const [first, second] = pipeline.posts.splice(0) as [Posted, Posted];
    pipeline.posts.push(first, first, second);
    expect(await findFaults()).toMatch(/was posted 3 times/);
    pipeline.posts.splice(0, 3, second);
    expect(await findFaults()).toMatch(/was posted 1 times/);
    pipeline.posts.push({ ...first, deliveryId: 'dlv_x' }, { ...first, name: 'task.created tk_x backlog' });
    expect(await findFaults()).toMatch(/dlv_x is no delivery/);
    expect(await findFaults()).toMatch(/was posted as task.created tk_x backlog/);
  });
});
