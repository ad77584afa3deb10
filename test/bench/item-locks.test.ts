import { expect, it } from 'vitest';
import { createItemLocks, writesOf } from './item-locks.ts';

const key = (pk: string, sk = '-') => ({ pk: { S: pk }, sk: { S: sk } });
const put = (pk: string, sk?: string, TableName = 'board') => ({ Put: { TableName, Item: key(pk, sk) } });
const add = (pk: string) => ({ Update: { TableName: 'board', Key: key(pk) } });
const check = (pk: string) => ({ ConditionCheck: { TableName: 'board', Key: key(pk) } });
const remove = (pk: string) => ({ Delete: { TableName: 'board', Key: key(pk) } });

const writes = (action: string, body: object) => {
  const found = writesOf(action, JSON.stringify(body));
  if (!found) throw new Error(`${action} writes nothing.`);
  return found;
};
const transaction = (...TransactItems: object[]) =>
  writes('TransactWriteItems', { TransactItems, ClientRequestToken: 'token' });
const free = { release: expect.any(Function) };

it.each([
  ['put', put('a'), put('a')],
  ['update', add('a'), add('a')],
  ['delete', put('a'), remove('a')],
  ['check', put('a'), check('a')],
  ['check after a check', check('a'), check('a')],
])('a transaction conflicts with another one on the same item: %s', (_, first, second) => {
  const locks = createItemLocks();
  expect(locks.take(transaction(first, put('b')))).toEqual(free);
  expect(locks.take(transaction(put('c'), second))).toEqual({ conflicts: [false, true] });
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

it('a transaction releases its items, and one with a conflict holds none', () => {
  const locks = createItemLocks();
  const first = locks.take(transaction(add('a')));
  expect(locks.take(transaction(add('a'), add('b')))).toEqual({ conflicts: [true, false] });
  expect(locks.take(transaction(add('b')))).toEqual(free);
  if ('release' in first) first.release();
  expect(locks.take(transaction(add('a')))).toEqual(free);
});

it.each([
  ['PutItem', put('a')],
  ['UpdateItem', add('a')],
  ['DeleteItem', remove('a')],
] as const)('a %s conflicts with a transaction on the item, and holds nothing', (action, write) => {
  const single = writes(action, Object.values(write)[0] as object);
  const locks = createItemLocks();
  const first = locks.take(transaction(put('a')));
  expect(locks.take(single)).toEqual({ conflicts: [true] });
  if ('release' in first) first.release();
  for (const one of [single, single, transaction(put('a'))]) expect(locks.take(one)).toEqual(free);
});

it.each(['GetItem', 'BatchGetItem', 'Query', 'CreateTable'])('a %s has no conflict', (action) => {
  expect(writesOf(action, JSON.stringify({ TableName: 'board', Key: key('a') }))).toBeUndefined();
});
