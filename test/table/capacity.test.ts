import { BatchGetCommand, GetCommand, PutCommand, QueryCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, expect, it } from 'vitest';
import { openBoard } from './board.ts';
import { meter } from './capacity.ts';

// Other tests limit costs by the engine's count of capacity units. These tests check that count by DynamoDB's rules.
const { table } = await openBoard();
const { costOf } = meter(table);
const TableName = table.name;

/** Returns an item of a size: DynamoDB counts the bytes of names and values. */
const itemOf = (bytes: number, sk = 'k') => ({
  pk: 'p',
  sk,
  x: 'x'.repeat(bytes - 'pkp'.length - `sk${sk}`.length - 1),
});
const put = (bytes: number) => table.client.send(new PutCommand({ TableName, Item: itemOf(bytes) }));
const transact = (...bytes: number[]) => {
  const TransactItems = bytes.map((size, at) => ({ Put: { TableName, Item: itemOf(size, `t${at}`) } }));
  return table.client.send(new TransactWriteCommand({ TransactItems }));
};

const rows = Array.from({ length: 60 }, (_, at) => itemOf(100, `row${100 + at}`));
beforeAll(async () => {
  for (const Item of rows) await table.client.send(new PutCommand({ TableName, Item }));
});

it.each([
  [1024, 1],
  [1025, 2],
  [3000, 3],
])('a put of %i bytes takes %i write units', async (bytes, wcu) => {
  expect(await costOf(() => put(bytes))).toEqual({ requests: 1, rounds: 1, rcu: 0, wcu });
});

it('a transaction takes twice the units of its writes', async () => {
  expect(await costOf(() => transact(100, 1024, 1025))).toEqual({ requests: 1, rounds: 1, rcu: 0, wcu: 8 });
});

it.each([
  [4096, 1],
  [4097, 2],
])('a strong read of an item of %i bytes takes %i read units', async (bytes, rcu) => {
  await put(bytes);
  const get = new GetCommand({ TableName, Key: { pk: 'p', sk: 'k' }, ConsistentRead: true });
  expect(await costOf(() => table.client.send(get))).toEqual({ requests: 1, rounds: 1, rcu, wcu: 0 });
});

it('a strong query takes the units of all items together, a batch the units of each item', async () => {
  const query = new QueryCommand({
    TableName,
    KeyConditionExpression: 'pk = :pk AND begins_with(sk, :row)',
    ExpressionAttributeValues: { ':pk': 'p', ':row': 'row' },
    ConsistentRead: true,
  });
  expect(await costOf(() => table.client.send(query))).toMatchObject({ rcu: Math.ceil(6000 / 4096) });
  const Keys = rows.map(({ pk, sk }) => ({ pk, sk }));
  const batch = new BatchGetCommand({ RequestItems: { [TableName]: { Keys, ConsistentRead: true } } });
  expect(await costOf(() => table.client.send(batch))).toMatchObject({ rcu: 60 });
});

it('concurrent requests are one round', async () => {
  const both = () => Promise.all([put(10), transact(10)]);
  expect(await costOf(both)).toMatchObject({ requests: 2, rounds: 1 });
  expect(await costOf(() => both().then(both))).toMatchObject({ requests: 4, rounds: 2 });
});
