import { beforeAll, expect, it } from 'vitest';
import type { Table } from '../../lib/table/client.ts';
import { getItem } from '../../lib/table/reads.ts';
import { Conflict, transact } from '../../lib/table/transact.ts';
import type { Item, Write } from '../../lib/table/write.ts';
import { openBoard } from './board.ts';

const standing = { pk: 'things', sk: 'standing', version: 3, tags: new Set(['x', 'y']), inner: { list: [1, 'two'] } };
let table: Table;
beforeAll(async () => {
  ({ table } = await openBoard());
  await transact(table, [{ Put: { Item: standing } }]);
});

/** What each failed condition was told to have found. */
async function foundBy(...writes: Write[]): Promise<(Item | undefined | 'not asked')[]> {
  const found: (Item | undefined | 'not asked')[] = writes.map(() => 'not asked');
  const asking = writes.map((write, at) => ({
    ...write,
    onConditionFailed: (item: Item | undefined) => {
      found[at] = item;
      return new Conflict();
    },
  }));
  await expect(transact(table, asking)).rejects.toBeInstanceOf(Conflict);
  return found;
}

const { pk, sk } = standing;
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
])('the failed condition of a single %s is told the item that is there', async (_, write) => {
  expect(await foundBy(write)).toEqual([standing]);
});

it('the failed condition of a single write is told that nothing is there', async () => {
  expect(await foundBy(change(absent))).toEqual([undefined]);
});

it.each([
  ['put', mustBeNew],
  ['update', change({ pk, sk })],
  ['delete', remove],
])('the failed condition of a %s in a transaction is told the item that is there', async (_, write) => {
  expect(await foundBy(fresh, write)).toEqual(['not asked', standing]);
});

it('each failed condition of a transaction is told its own item, and nothing is written', async () => {
  expect(await foundBy(fresh, check, remove)).toEqual(['not asked', undefined, standing]);
  expect(await getItem(table, { pk, sk: 'fresh' })).toBeUndefined();
  expect(await getItem(table, { pk, sk })).toEqual(standing);
});
