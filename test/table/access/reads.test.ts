import { BatchGetCommand, type BatchGetCommandInput, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import type { Table } from '../../../lib/table/access/client.ts';
import type { Key } from '../../../lib/table/access/keys.ts';
import { countItems, getEach, getItem, getItems, queryItems, readRange } from '../../../lib/table/access/reads.ts';
import { dynamodbError } from '../fixtures/dynamodb-errors.ts';
import { mockTable, queriesOf, returnPages } from '../fixtures/mock-table.ts';
import { createTestTable, errorOf } from '../tasks/test-table.ts';

const keysOf = (count: number): Key[] => Array.from({ length: count }, (_, at) => ({ pk: 'p', sk: `${1000 + at}` }));
const keysIn = ({ RequestItems }: BatchGetCommandInput) => RequestItems?.mocked?.Keys as Key[];

/** The output of a batch that leaves some of its keys unprocessed. */
const output = (items: Key[], left: Key[] = []) => ({
  Responses: { mocked: items },
  UnprocessedKeys: left.length > 0 ? { mocked: { Keys: left } } : {},
});

/** Creates a table that responds to each batch with the output for its keys, and records the inputs. */
function mockBatches(outputFor: (keys: Key[]) => ReturnType<typeof output>) {
  const { table, dynamodb } = mockTable();
  dynamodb.on(BatchGetCommand).callsFake(async (input) => outputFor(keysIn(input)));
  const inputs = () => dynamodb.commandCalls(BatchGetCommand).map(({ args: [{ input }] }) => input);
  return { table, inputs };
}

it('getItem reads strongly consistently', async () => {
  const { table, dynamodb } = mockTable();
  dynamodb.on(GetCommand).resolves({ Item: { pk: 'p', sk: 's' } });
  expect(await getItem(table, { pk: 'p', sk: 's' })).toEqual({ pk: 'p', sk: 's' });
  expect(dynamodb).toHaveReceivedCommandExactlyOnceWith(GetCommand, { ConsistentRead: true });
});

describe('a batch of items', () => {
  it('is in the order of the keys, and has `undefined` for each key without an item, from getEach', async () => {
    const { table } = mockBatches((keys) => output(keys.filter(({ sk }) => sk !== '1001').toReversed()));
    expect(await getEach(table, keysOf(3))).toEqual([keysOf(3)[0], undefined, keysOf(3)[2]]);
  });

  it('is read strongly consistently, and only unprocessed keys are read again', async () => {
    const { table, inputs } = mockBatches((keys) => {
      const [first, ...rest] = keys.toReversed();
      return output(first ? [first] : [], rest);
    });
    expect(await getItems(table, keysOf(4))).toEqual(keysOf(4));
    expect(inputs().map((input) => keysIn(input).length)).toEqual([4, 3, 2, 1]);
    for (const { RequestItems } of inputs()) expect(RequestItems).toMatchObject({ mocked: { ConsistentRead: true } });
  });

  it('has the item of each key although keys are repeated, which DynamoDB would reject', async () => {
    const { table, inputs } = mockBatches((keys) => output(keys));
    const wanted = [...keysOf(100), ...keysOf(2)];
    expect(await getEach(table, wanted)).toEqual(wanted);
    expect(inputs().map(keysIn)).toEqual([keysOf(100)]);
  });

  it('of more than 100 keys is read in requests of 100 keys, and leaves out keys without an item', async () => {
    const { table, inputs } = mockBatches((keys) => output(keys.filter(({ sk }) => sk !== '1002')));
    expect(await getItems(table, keysOf(250))).toEqual(keysOf(250).filter(({ sk }) => sk !== '1002'));
    expect(inputs().map((input) => keysIn(input).length)).toEqual([100, 100, 50]);
  });
});

describe('a range of a partition', () => {
  it('is read page by page up to the limit', async () => {
    const pageFrom = (at: number) => ({ Items: keysOf(10).slice(at, at + 2), LastEvaluatedKey: keysOf(10)[at + 1] });
    const { table, dynamodb } = mockTable();
    returnPages(dynamodb, ...[0, 2, 4, 6, 8].map(pageFrom));
    expect(await readRange(table, { pk: 'p', limit: 6 })).toEqual(keysOf(6));
    expect(queriesOf(dynamodb).map(({ Limit, ExclusiveStartKey }) => [Limit, ExclusiveStartKey])).toEqual([
      [6, undefined],
      [4, keysOf(2)[1]],
      [2, keysOf(4)[3]],
    ]);
    for (const { ConsistentRead } of queriesOf(dynamodb)) expect(ConsistentRead).toBe(true);
  });

  it('is read beyond an empty page', async () => {
    const { table, dynamodb } = mockTable();
    returnPages(dynamodb, { Items: [], LastEvaluatedKey: {} }, { Items: keysOf(1) });
    expect(await readRange(table, { pk: 'p' })).toEqual(keysOf(1));
  });

  it('is in descending order and includes both ends', async () => {
    const { table } = await createTestTable();
    for (const Item of keysOf(5)) await table.client.send(new PutCommand({ TableName: table.name, Item }));
    const found = await Array.fromAsync(queryItems(table, { pk: 'p', from: '1001', to: '1003' }));
    expect(found.map(({ sk }) => sk)).toEqual(['1003', '1002', '1001']);
    expect(await countItems(table, { pk: 'p', from: '1001', to: '1003' })).toBe(3);
  });

  it('is counted page by page, strongly consistently', async () => {
    const pages = [0, 1, 2, 3].map((Count) => ({ Count, ...(Count < 3 && { LastEvaluatedKey: keysOf(4)[Count] }) }));
    const { table, dynamodb } = mockTable();
    returnPages(dynamodb, ...pages);
    expect(await countItems(table, { pk: 'p', from: '1', to: '2' })).toBe(1 + 2 + 3);
    expect(queriesOf(dynamodb).map((input) => input.ExclusiveStartKey)).toEqual([undefined, ...keysOf(3)]);
    for (const input of queriesOf(dynamodb)) expect(input).toMatchObject({ ConsistentRead: true, Select: 'COUNT' });
  });
});

it.each<[string, (table: Table) => Promise<unknown>]>([
  ['item', (table) => getItem(table, { pk: 'p', sk: 's' })],
  ['batch', (table) => getItems(table, keysOf(2))],
  ['range', (table) => Array.fromAsync(queryItems(table, { pk: 'p' }))],
  ['count', (table) => countItems(table, { pk: 'p', from: '1', to: '2' })],
])('a throttled read of one %s throws `unavailable`; other errors are thrown as they are', async (_, read) => {
  const { table, dynamodb } = mockTable();
  dynamodb.rejects(dynamodbError('ThrottlingException'));
  expect((await errorOf(read(table)))?.code).toBe('unavailable');
  dynamodb.rejects(dynamodbError('ValidationException'));
  await expect(read(table)).rejects.toThrow('ValidationException');
});

it('a range can be limited to attributes of any name, and has the sort keys too', async () => {
  const { table } = await createTestTable();
  const Item = { pk: 'range', sk: '1', 'done:high': 2, 'done:low': 3, size: 4 };
  await table.client.send(new PutCommand({ TableName: table.name, Item }));
  const read = (only?: readonly string[]) => Array.fromAsync(queryItems(table, { pk: 'range', only }));
  expect(await read()).toEqual([Item]);
  expect(await read(['done:high', 'size', 'absent'])).toEqual([{ sk: '1', 'done:high': 2, size: 4 }]);
});
