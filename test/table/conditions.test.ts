import { expect, it, vi } from 'vitest';
import type { Key } from '../../lib/table/access/keys.ts';
import { getItem } from '../../lib/table/access/reads.ts';
import { Conflict, transact } from '../../lib/table/access/transact.ts';
import type { OnConditionFailed, Write } from '../../lib/table/access/write.ts';
import { createTestTable } from './tasks/test-table.ts';

const existing = { pk: 'things', sk: 'existing', version: 3, tags: new Set(['x', 'y']), inner: { list: [1, 'two'] } };
const { table } = await createTestTable();
await transact(table, [{ Put: { Item: existing } }]);

/** Returns the item that `onConditionFailed` of each write received, or that it was not called. */
async function foundBy(...writes: Write[]): Promise<unknown[]> {
  const observed = writes.map((write) => ({
    ...{ ...write, onConditionFailed: vi.fn<OnConditionFailed>(() => new Conflict()) },
  }));
  await expect(transact(table, observed)).rejects.toBeInstanceOf(Conflict);
  return observed.map(({ onConditionFailed: { mock } }) => (mock.lastCall ? mock.lastCall[0] : 'not called'));
}

const { pk, sk } = existing;
const mustBeNew: Write = { Put: { Item: { pk, sk }, ConditionExpression: 'attribute_not_exists(pk)' } };
const isRead = { ConditionExpression: 'version = :read', ExpressionAttributeValues: { ':read': 2 } };
const change = (Key: Key): Write => ({ Update: { Key, UpdateExpression: 'REMOVE tags', ...isRead } });
const remove: Write = { Delete: { Key: { pk, sk }, ...isRead } };
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
