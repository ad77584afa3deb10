import { expect, it } from 'vitest';
import { openItemLocks, writesOf } from './item-locks.ts';

const key = (pk: string, sk = '-') => ({ pk: { S: pk }, sk: { S: sk } });
const put = (pk: string, sk?: string, TableName = 'board') => ({
  Put: { TableName, Item: { ...key(pk, sk), v: { N: '1' } } },
});
const add = (pk: string, sk?: string) => ({
  Update: { TableName: 'board', Key: key(pk, sk), UpdateExpression: 'ADD #n :one' },
});
const check = (pk: string) => ({ ConditionCheck: { TableName: 'board', Key: key(pk) } });
const remove = (pk: string) => ({ Delete: { TableName: 'board', Key: key(pk) } });

const writes = (action: string, body: object) => {
  const found = writesOf(action, JSON.stringify(body));
  if (!found) throw new Error(`${action} writes nothing.`);
  return found;
};
const transaction = (...TransactItems: object[]) =>
  writes('TransactWriteItems', { TransactItems, ClientRequestToken: 'token' });
const single = (action: 'PutItem' | 'UpdateItem' | 'DeleteItem', of: object) =>
  writes(action, Object.values(of)[0] as object);

/** Takes what must be free. */
const takes = (locks: ReturnType<typeof openItemLocks>, wanted: ReturnType<typeof transaction>) => {
  const taken = locks.take(wanted);
  if ('conflicts' in taken) throw new Error('It is held.');
  return taken;
};

it.each([
  ['puts', put('a'), put('a')],
  ['adds to a number', add('a'), add('a')],
  ['deletes', put('a'), remove('a')],
  ['only looks at it', put('a'), check('a')],
])('has a transaction that %s conflict with one under way on the item', (_, first, second) => {
  const locks = openItemLocks();
  takes(locks, transaction(first, put('b')));
  expect(locks.take(transaction(put('c'), second))).toEqual({ conflicts: [false, true] });
});

it('has two transactions conflict that only look at the same item', () => {
  const locks = openItemLocks();
  takes(locks, transaction(check('a'), put('b')));
  expect(locks.take(transaction(check('a'), put('c')))).toEqual({ conflicts: [true, false] });
});

it.each([
  ['of other partitions', put('b', '1')],
  ['of the same partition', put('a', '2')],
  ['of another table', put('a', '1', 'other')],
])('lets transactions go on side by side on items %s', (_, other) => {
  const locks = openItemLocks();
  takes(locks, transaction(put('a', '1')));
  takes(locks, transaction(other));
});

it('lets a transaction go on once the one before it is over', () => {
  const locks = openItemLocks();
  takes(locks, transaction(add('a'))).release();
  takes(locks, transaction(add('a')));
});

it('has a transaction that is cancelled hold nothing', () => {
  const locks = openItemLocks();
  takes(locks, transaction(put('a')));
  locks.take(transaction(put('a'), put('b')));
  takes(locks, transaction(put('b')));
});

it.each([
  ['PutItem', put('a')],
  ['UpdateItem', add('a')],
  ['DeleteItem', remove('a')],
] as const)('has a %s conflict with a transaction under way on the item, and with nothing else', (action, write) => {
  const locks = openItemLocks();
  const first = takes(locks, transaction(put('a')));
  expect(locks.take(single(action, write))).toEqual({ conflicts: [true] });
  first.release();
  takes(locks, single(action, write));
  takes(locks, single(action, write));
  takes(locks, transaction(put('a')));
});

it.each(['GetItem', 'BatchGetItem', 'Query', 'CreateTable'])('lets a %s go on whatever is held', (action) => {
  expect(writesOf(action, JSON.stringify({ TableName: 'board', Key: key('a') }))).toBeUndefined();
});
