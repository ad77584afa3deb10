import { BatchGetCommand, type BatchGetCommandInput, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import type { Key } from '../../lib/table/keys.ts';
import { countItems, getEach, getItem, getItems, queryItems } from '../../lib/table/reads.ts';
import { errorOf, openBoard } from './board.ts';
import { dynamodbError } from './dynamodb-errors.ts';
import { mockTable, queriesOf, returnPages } from './mock-table.ts';

const keysOf = (count: number): Key[] => Array.from({ length: count }, (_, at) => ({ pk: 'p', sk: `${1000 + at}` }));
const keysIn = ({ RequestItems }: BatchGetCommandInput) => RequestItems?.mocked?.Keys as Key[];

/** The output of a batch that leaves some of its keys unprocessed. */
const output = (items: Key[], left: Key[] = []) => ({
  Responses: { mocked: items },
  UnprocessedKeys: left.length > 0 ? { mocked: { Keys: left } } : {},
});

/** A table that answers batches with the output for their keys, and the inputs of the batches that it received. */
function mockBatches(outputFor: (keys: Key[]) => ReturnType<typeof output>) {
  const { table, dynamodb, pauses } = mockTable();
  dynamodb.on(BatchGetCommand).callsFake(async (input) => outputFor(keysIn(input)));
  const inputs = () => dynamodb.commandCalls(BatchGetCommand).map(({ args: [{ input }] }) => input);
  return { table, dynamodb, pauses, inputs };
}

it('a single item is asked for strongly', async () => {
  const { table, dynamodb } = mockTable();
  dynamodb.on(GetCommand).resolves({ Item: { pk: 'p', sk: 's' } });
  expect(await getItem(table, { pk: 'p', sk: 's' })).toEqual({ pk: 'p', sk: 's' });
  expect(dynamodb).toHaveReceivedCommandExactlyOnceWith(GetCommand, { ConsistentRead: true });
});

describe('a batch of items', () => {
  it('is in the order of the keys, whatever order it is answered in', async () => {
    const { table } = mockBatches((keys) => output(keys.toReversed()));
    expect(await getItems(table, keysOf(7))).toEqual(keysOf(7));
  });

  it('leaves out what is absent', async () => {
    const wanted = keysOf(5);
    const { table } = mockBatches((keys) => output(keys.filter(({ sk }) => sk !== '1002')));
    expect(await getItems(table, wanted)).toEqual(wanted.filter(({ sk }) => sk !== '1002'));
  });

  it('says of each key that it has no item, where it is asked for each', async () => {
    const wanted = keysOf(3);
    const { table } = mockBatches((keys) => output(keys.filter(({ sk }) => sk !== '1001')));
    expect(await getEach(table, wanted)).toEqual([wanted[0], undefined, wanted[2]]);
  });

  it('asks strongly, again for what was left unprocessed and for nothing else', async () => {
    const { table, inputs } = mockBatches((keys) => {
      const [first, ...rest] = keys.toReversed();
      return output(first ? [first] : [], rest);
    });
    expect(await getItems(table, keysOf(4))).toEqual(keysOf(4));
    expect(inputs().map((input) => keysIn(input).length)).toEqual([4, 3, 2, 1]);
    for (const { RequestItems } of inputs()) expect(RequestItems).toMatchObject({ mocked: { ConsistentRead: true } });
  });

  it('of which keys stay unprocessed is given up as unavailable after eight tries', async () => {
    const { table, dynamodb, pauses } = mockBatches((keys) => output([], keys));
    expect((await errorOf(getItems(table, keysOf(2))))?.code).toBe('unavailable');
    expect(dynamodb).toHaveReceivedCommandTimes(BatchGetCommand, 8);
    expect(pauses).toHaveLength(7);
  });

  it('of more than a hundred is asked for in hundreds', async () => {
    const { table, inputs } = mockBatches((keys) => output(keys));
    expect(await getItems(table, keysOf(250))).toEqual(keysOf(250));
    expect(inputs().map((input) => keysIn(input).length)).toEqual([100, 100, 50]);
  });

  it('of nothing asks nothing', async () => {
    const { table, dynamodb } = mockTable();
    expect(await getItems(table, [])).toEqual([]);
    expect(dynamodb).not.toHaveReceivedAnyCommand();
  });
});

describe('a range of a partition', () => {
  it('is read page after page, and no further than asked', async () => {
    const pageFrom = (at: number) => ({ Items: keysOf(10).slice(at, at + 2), LastEvaluatedKey: keysOf(10)[at + 1] });
    const { table, dynamodb } = mockTable();
    returnPages(dynamodb, ...[0, 2, 4, 6, 8].map(pageFrom));
    expect(await Array.fromAsync(queryItems(table, { pk: 'p', limit: 6 }))).toEqual(keysOf(6));
    expect(queriesOf(dynamodb).map(({ Limit, ExclusiveStartKey }) => [Limit, ExclusiveStartKey])).toEqual([
      [6, undefined],
      [4, keysOf(2)[1]],
      [2, keysOf(4)[3]],
    ]);
    for (const { ConsistentRead } of queriesOf(dynamodb)) expect(ConsistentRead).toBe(true);
  });

  it('goes on behind an empty page', async () => {
    const empty = { Items: [], LastEvaluatedKey: {} };
    const { table, dynamodb } = mockTable();
    returnPages(dynamodb, empty, empty, { Items: keysOf(1) });
    expect(await Array.fromAsync(queryItems(table, { pk: 'p' }))).toEqual(keysOf(1));
  });

  it('is in descending order and includes both its ends', async () => {
    const { table } = await openBoard();
    for (const Item of keysOf(5)) await table.client.send(new PutCommand({ TableName: table.name, Item }));
    const found = await Array.fromAsync(queryItems(table, { pk: 'p', from: '1001', to: '1003' }));
    expect(found.map(({ sk }) => sk)).toEqual(['1003', '1002', '1001']);
    expect(await countItems(table, { pk: 'p', from: '1001', to: '1003' })).toBe(3);
  });

  it('is counted page after page, strongly', async () => {
    const pages = [0, 1, 2, 3].map((Count) => ({ Count, ...(Count < 3 && { LastEvaluatedKey: keysOf(4)[Count] }) }));
    const { table, dynamodb } = mockTable();
    returnPages(dynamodb, ...pages);
    expect(await countItems(table, { pk: 'p', from: '1', to: '2' })).toBe(1 + 2 + 3);
    expect(queriesOf(dynamodb).map((input) => input.ExclusiveStartKey)).toEqual([undefined, ...keysOf(3)]);
    for (const input of queriesOf(dynamodb)) expect(input).toMatchObject({ ConsistentRead: true, Select: 'COUNT' });
  });
});

describe('a read that is throttled even after the tries of the SDK', () => {
  const { table, dynamodb } = mockTable();
  dynamodb.rejects(dynamodbError('ThrottlingException'));

  it.each([
    ['item', () => getItem(table, { pk: 'p', sk: 's' })],
    ['batch', () => getItems(table, keysOf(2))],
    ['range', () => Array.fromAsync(queryItems(table, { pk: 'p' }))],
    ['count', () => countItems(table, { pk: 'p', from: '1', to: '2' })],
  ])('of one %s is unavailable, not broken', async (_, read) => {
    expect((await errorOf(read()))?.code).toBe('unavailable');
  });

  it('is told apart from one that is wrong', async () => {
    const wrong = mockTable();
    wrong.dynamodb.rejects(dynamodbError('ValidationException'));
    await expect(getItem(wrong.table, { pk: 'p', sk: 's' })).rejects.toThrow('ValidationException');
  });
});

it('a range hands over its sort keys and only the attributes that are asked for, whatever their names', async () => {
  const { table } = await openBoard();
  const Item = { pk: 'range', sk: '1', 'done:high': 2, 'done:low': 3, size: 4 };
  await table.client.send(new PutCommand({ TableName: table.name, Item }));
  const read = (only?: readonly string[]) => Array.fromAsync(queryItems(table, { pk: 'range', only }));
  expect(await read()).toEqual([Item]);
  expect(await read(['done:high', 'size', 'absent'])).toEqual([{ sk: '1', 'done:high': 2, size: 4 }]);
});
