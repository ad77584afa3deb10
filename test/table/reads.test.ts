import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import type { Key } from '../../lib/table/keys.ts';
import { countItems, getEach, getItem, getItems, queryItems } from '../../lib/table/reads.ts';
import { openBoard, refusalOf } from './board.ts';
import { type Command, named, scriptedTable } from './scripted-table.ts';

const keysOf = (count: number): Key[] => Array.from({ length: count }, (_, at) => ({ pk: 'p', sk: `${1000 + at}` }));
const asked = ({ input }: Command): Key[] => (input.RequestItems as { scripted: { Keys: Key[] } }).scripted.Keys;

/** A batch's answer that leaves some of its keys unprocessed. */
const answer = (items: Key[], left: Key[] = []) => ({
  Responses: { scripted: items },
  UnprocessedKeys: left.length > 0 ? { scripted: { Keys: left } } : {},
});

it('a single item is asked for strongly', async () => {
  const { table, sent } = scriptedTable(() => ({ Item: { pk: 'p', sk: 's' } }));
  expect(await getItem(table, { pk: 'p', sk: 's' })).toEqual({ pk: 'p', sk: 's' });
  expect(sent.map(({ input }) => input.ConsistentRead)).toEqual([true]);
});

describe('a batch of items', () => {
  it('is in the order of the keys, whatever order it is answered in', async () => {
    const { table } = scriptedTable((_, command) => answer(asked(command).toReversed()));
    expect(await getItems(table, keysOf(7))).toEqual(keysOf(7));
  });

  it('leaves out what is absent', async () => {
    const wanted = keysOf(5);
    const { table } = scriptedTable((_, command) => answer(asked(command).filter(({ sk }) => sk !== '1002')));
    expect(await getItems(table, wanted)).toEqual(wanted.filter(({ sk }) => sk !== '1002'));
  });

  it('says of each key that it has no item, where it is asked for each', async () => {
    const wanted = keysOf(3);
    const { table } = scriptedTable((_, command) => answer(asked(command).filter(({ sk }) => sk !== '1001')));
    expect(await getEach(table, wanted)).toEqual([wanted[0], undefined, wanted[2]]);
  });

  it('asks strongly, again for what was left unprocessed and for nothing else', async () => {
    const { table, sent } = scriptedTable((_, command) => {
      const [first, ...rest] = asked(command).toReversed();
      return answer(first ? [first] : [], rest);
    });
    expect(await getItems(table, keysOf(4))).toEqual(keysOf(4));
    expect(sent.map((command) => asked(command).length)).toEqual([4, 3, 2, 1]);
    for (const { input } of sent) expect(input.RequestItems).toMatchObject({ scripted: { ConsistentRead: true } });
  });

  it('of which keys stay unprocessed is given up as unavailable after eight tries', async () => {
    const { table, sent, pauses } = scriptedTable((_, command) => answer([], asked(command)));
    expect((await refusalOf(getItems(table, keysOf(2))))?.code).toBe('unavailable');
    expect(sent).toHaveLength(8);
    expect(pauses).toHaveLength(7);
  });

  it('of more than a hundred is asked for in hundreds', async () => {
    const { table, sent } = scriptedTable((_, command) => answer(asked(command)));
    expect(await getItems(table, keysOf(250))).toEqual(keysOf(250));
    expect(sent.map((command) => asked(command).length)).toEqual([100, 100, 50]);
  });

  it('of nothing asks nothing', async () => {
    const { table, sent } = scriptedTable(() => answer([]));
    expect(await getItems(table, [])).toEqual([]);
    expect(sent).toEqual([]);
  });
});

describe('a range of a partition', () => {
  it('is read page after page, and no further than asked', async () => {
    const { table, sent } = scriptedTable((nth) => ({
      Items: keysOf(10).slice(nth * 2, nth * 2 + 2),
      LastEvaluatedKey: keysOf(10)[nth * 2 + 1],
    }));
    expect(await Array.fromAsync(queryItems(table, { pk: 'p', limit: 6 }))).toEqual(keysOf(6));
    expect(sent.map(({ input }) => [input.Limit, input.ExclusiveStartKey])).toEqual([
      [6, undefined],
      [4, keysOf(2)[1]],
      [2, keysOf(4)[3]],
    ]);
    for (const { input } of sent) expect(input.ConsistentRead).toBe(true);
  });

  it('goes on behind an empty page', async () => {
    const { table } = scriptedTable((nth) => (nth < 2 ? { Items: [], LastEvaluatedKey: {} } : { Items: keysOf(1) }));
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
    const { table, sent } = scriptedTable((nth) => ({
      Count: nth,
      ...(nth < 3 && { LastEvaluatedKey: keysOf(4)[nth] }),
    }));
    expect(await countItems(table, { pk: 'p', from: '1', to: '2' })).toBe(1 + 2 + 3);
    expect(sent.map(({ input }) => input.ExclusiveStartKey)).toEqual([undefined, ...keysOf(3)]);
    for (const { input } of sent) expect(input).toMatchObject({ ConsistentRead: true, Select: 'COUNT' });
  });
});

describe('a read that is throttled even after the tries of the SDK', () => {
  const { table } = scriptedTable(() => named('ThrottlingException'));

  it.each([
    ['item', () => getItem(table, { pk: 'p', sk: 's' })],
    ['batch', () => getItems(table, keysOf(2))],
    ['range', () => Array.fromAsync(queryItems(table, { pk: 'p' }))],
    ['count', () => countItems(table, { pk: 'p', from: '1', to: '2' })],
  ])('of one %s is unavailable, not broken', async (_, read) => {
    expect((await refusalOf(read()))?.code).toBe('unavailable');
  });

  it('is told apart from one that is wrong', async () => {
    const wrong = scriptedTable(() => named('ValidationException'));
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
