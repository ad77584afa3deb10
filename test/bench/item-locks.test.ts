import { expect, it } from 'vitest';
import { createItemLocks, writesOf } from './item-locks.ts';

const key = (pk: string, sk = '-') => ({ pk: { S: pk }, sk: { S: sk } });
const put = (pk: string, sk?: string, TableName = 'tasks') => ({ Put: { TableName, Item: key(pk, sk) } });
const check = (pk: string) => ({ ConditionCheck: { TableName: 'tasks', Key: key(pk) } });

const writes = (action: string, body: object) => {
  const found = writesOf(action, JSON.stringify(body));
  if (!found) throw new Error(`${action} writes nothing.`);
  return found;
};
const transaction = (...TransactItems: object[]) =>
  writes('TransactWriteItems', { TransactItems, ClientRequestToken: 'token' });
const free = { release: expect.any(Function) };

it.each([
  ['a put', put('a')],
  ['a check', check('a')],
])('a transaction conflicts with another one on an item of %s, until that releases it', (_, first) => {
  const locks = createItemLocks();
  const held = locks.take(transaction(first, put('b')));
  expect(locks.take(transaction(put('c'), put('a')))).toEqual({ conflicts: [false, true] });
  expect(locks.take(transaction(put('c')))).toEqual(free);
  if ('release' in held) held.release();
  expect(locks.take(transaction(put('a')))).toEqual(free);
});

it.each([
  ['partitions', put('b', '1')],
  ['sort keys', put('a', '2')],
  ['tables', put('a', '1', 'other')],
])('transactions on items of different %s have no conflict', (_, other) => {
  const locks = createItemLocks();
  expect(locks.take(transaction(put('a', '1')))).toEqual(free);
  expect(locks.take(transaction(other))).toEqual(free);
});

it('a single write conflicts with a transaction on its item, and holds nothing', () => {
  const single = writes('UpdateItem', check('a').ConditionCheck);
  const locks = createItemLocks();
  for (const one of [single, single, transaction(put('a'))]) expect(locks.take(one)).toEqual(free);
  expect(locks.take(single)).toEqual({ conflicts: [true] });
  expect(writesOf('GetItem', JSON.stringify({ Key: key('a') }))).toBeUndefined();
});
