import { beforeAll, expect, it } from 'vitest';
import type { Table } from '../../lib/table/client.ts';
import { getItem } from '../../lib/table/reads.ts';
import { Conflict, transact } from '../../lib/table/transact.ts';
import type { Item, Write } from '../../lib/table/write.ts';
import { createTestTable } from './tasks/test-table.ts';

const existing = { pk: 'things', sk: 'existing', version: 3, tags: new Set(['x', 'y']), inner: { list: [1, 'two'] } };
let table: Table;
beforeAll(async () => {
  ({ table } = await createTestTable());
  await transact(table, [{ Put: { Item: existing } }]);
});

/** Returns the item that `onConditionFailed` of each write received, or that it was not called. */
async function foundBy(...writes: Write[]): Promise<(Item | undefined | 'not called')[]> {
  const found: (Item | undefined | 'not called')[] = writes.map(() => 'not called');
  const observed = writes.map((write, at) => ({
    ...write,
    onConditionFailed: (item: Item | undefined) => {
      found[at] = item;
      return new Conflict();
    },
  }));
  await expect(transact(table, observed)).rejects.toBeInstanceOf(Conflict);
  return found;
}

const { pk, sk } = existing;
const mustBeNew: Write = { Put: { Item: { pk, sk }, ConditionExpression: 'attribute_not_exists(pk)' } };
const change = (Key: { pk: string; sk: string }): Write => ({
  Update: {
    Key,
    UpdateExpression: 'SET version = :next',
    ConditionExpression: 'version = :read',
    ExpressionAttributeValues: { ':read': 2, ':next': 4 },
  },
});
const remove: Write = {
  Delete: { Key: { pk, sk }, ConditionExpression: 'version = :read', ExpressionAttributeValues: { ':read': 2 } },
};
const absent = { pk, sk: 'absent' };
const check: Write = { ConditionCheck: { Key: absent, ConditionExpression: 'attribute_exists(pk)' } };
const fresh: Write = { Put: { Item: { pk, sk: 'fresh' } } };

it.each([
  ['put', mustBeNew],
  ['update', change({ pk, sk })],
  ['delete', remove],
])('onConditionFailed of a %s receives the stored item, alone and in a transaction', async (_, write) => {
  expect(await foundBy(write)).toEqual([existing]);
  expect(await foundBy(fresh, write)).toEqual(['not called', existing]);
});

it('onConditionFailed receives `undefined` if there is no item, and nothing of a transaction is written', async () => {
  expect(await foundBy(change(absent))).toEqual([undefined]);
  expect(await foundBy(fresh, check, remove)).toEqual(['not called', undefined, existing]);
  expect(await getItem(table, { pk, sk: 'fresh' })).toBeUndefined();
  expect(await getItem(table, { pk, sk })).toEqual(existing);
});
