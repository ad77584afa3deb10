import { afterEach, describe, expect, it, vi } from 'vitest';
import { writeBatch } from '../../../lib/table/access/batch-writes.ts';
import type { Table } from '../../../lib/table/access/client.ts';
import { getItems } from '../../../lib/table/access/reads.ts';
import { retryWithJitter } from '../../../lib/table/access/retry.ts';
import { Conflict, retryOnConflict, transact } from '../../../lib/table/access/transact.ts';
import { cancelled } from '../fixtures/dynamodb-errors.ts';
import { mockTable } from '../fixtures/mock-table.ts';
import { errorOf } from '../tasks/test-table.ts';

const limits = { tries: 5, firstPauseMs: 10, longestPauseMs: 40 };
const key = { pk: 'p', sk: 's' };

afterEach(() => {
  vi.restoreAllMocks();
});

/** Makes every try fail and returns the error, the number of tries and the pauses. */
async function exhausted(random: number) {
  vi.spyOn(Math, 'random').mockReturnValue(random);
  const { table, pauses } = mockTable();
  const attempt = vi.fn(async () => undefined);
  const error = await errorOf(retryWithJitter(table, attempt, limits));
  return { error, tries: attempt.mock.calls.length, pauses };
}

describe('retryWithJitter', () => {
  it('returns the result of the first try that succeeds', async () => {
    const { table, pauses } = mockTable();
    const attempt = vi.fn(async () => (attempt.mock.calls.length === 3 ? { result: 'done' } : undefined));
    expect(await retryWithJitter(table, attempt, limits)).toBe('done');
    expect(pauses).toHaveLength(2);
  });

  it('throws `unavailable` after the last try; pauses have a bound that doubles up to the longest pause', async () => {
    expect(await exhausted(0)).toMatchObject({ error: { code: 'unavailable' }, tries: 5, pauses: [0, 0, 0, 0] });
    expect((await exhausted(0.5)).pauses).toEqual([5, 10, 20, 20]);
    expect((await exhausted(1)).pauses).toEqual([10, 20, 40, 40]);
  });

  it('throws the error of a try at once', async () => {
    const { table, pauses } = mockTable();
    const failing = retryWithJitter(table, () => Promise.reject(new Error('broken')), limits);
    await expect(failing).rejects.toThrow('broken');
    expect(pauses).toEqual([]);
  });
});

const bounds = (firstMs: number, count: number) =>
  Array.from({ length: count }, (_, nth) => Math.min(firstMs * 2 ** nth, firstMs * 64));

it.each<[string, (table: Table) => Promise<unknown>, number[]]>([
  ['a write', (table) => transact(table, [{ Delete: { Key: key } }, { Delete: { Key: key } }]), bounds(25, 7)],
  ['a decision in conflict', (table) => retryOnConflict(table, () => Promise.reject(new Conflict())), bounds(25, 20)],
  ['a batch of writes', (table) => writeBatch(table, [{ DeleteRequest: { Key: key } }]), bounds(50, 7)],
  ['a batch of reads', (table) => getItems(table, [key]), bounds(50, 7)],
])('the pauses of %s have bounds that double', async (_, request, expected) => {
  vi.spyOn(Math, 'random').mockReturnValue(1);
  const { table, dynamodb, pauses } = mockTable();
  dynamodb.callsFake(async (input) => {
    if ('TransactItems' in input) throw cancelled('TransactionConflict', 'None');
    return { UnprocessedItems: input.RequestItems, UnprocessedKeys: input.RequestItems };
  });
  expect((await errorOf(request(table)))?.code).toBe('unavailable');
  expect(pauses).toEqual(expected);
});
