import { beforeEach, describe, expect, it } from 'vitest';
import { inBatches } from '../../lib/aws/in-batches.ts';
import { inGroups } from '../../lib/aws/in-groups.ts';

/** The batches that were carried out, in their order. */
let batches: string[][];
beforeEach(() => {
  batches = [];
});

/** Carries a batch out: the result of an entry is its own text in capitals, and no batch with `bad` is accepted. */
const carryOut = (error = new Error('The batch failed.')) => {
  return async (entries: string[]): Promise<string[]> => {
    batches.push(entries);
    if (entries.includes('bad')) throw error;
    return entries.map((entry) => entry.toUpperCase());
  };
};
const itemTooLarge = Object.assign(new Error('An item is too large.'), { name: 'ValidationException' });
const nameOf = (entry: string) => entry;
const settled = async (entries: Promise<string>[]) =>
  (await Promise.allSettled(entries)).map((one) => (one.status === 'fulfilled' ? one.value : one.reason.message));

describe('entries of one turn of the event loop', () => {
  it('go together also where promises that are settled already come in between', async () => {
    const add = inBatches(10, carryOut());
    await Promise.all([add('a'), Promise.resolve().then(() => add('b'))]);
    expect(batches).toEqual([['a', 'b']]);
  });

  it('go in batches of the most that one has, and each has its own result', async () => {
    const add = inBatches(2, carryOut());
    expect(await Promise.all(['a', 'b', 'c', 'd', 'e'].map(add))).toEqual(['A', 'B', 'C', 'D', 'E']);
    expect(batches).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
  });

  it.each([
    ['that have the same name are one entry, whose result they share', nameOf, ['a', 'b']],
    ['stand for themselves where they have no name', undefined, ['a', 'b', 'a']],
  ])('%s', async (_, name, batch) => {
    const add = inBatches(10, carryOut(), name);
    expect(await Promise.all(['a', 'b', 'a'].map(add))).toEqual(['A', 'B', 'A']);
    expect(batches).toEqual([batch]);
  });
});

it('different entries with the same name are carried out one after the other, also if the first one fails', async () => {
  const byLetter = (entry: string) => entry.slice(0, 1);
  const add = inBatches(10, carryOut(), byLetter);
  expect(await settled(['a1', 'b1', 'a2', 'a1', 'a3'].map(add))).toEqual(['A1', 'B1', 'A2', 'A1', 'A3']);
  expect(batches.splice(0)).toEqual([['a1', 'b1'], ['a2'], ['a1'], ['a3']]);
  const addBad = inBatches(10, carryOut(), (entry) => (entry === 'bad' ? 'a' : byLetter(entry)));
  expect(await settled(['bad', 'a1'].map(addBad))).toEqual(['The batch failed.', 'A1']);
});

it('an entry that is equal to one before a different one with its name is carried out after that one', async () => {
  const values = new Map<string, string>();
  const put = async (entries: string[]) => {
    for (const entry of entries) values.set(entry.slice(0, 1), entry);
    return entries;
  };
  const add = inBatches(10, put, (entry) => entry.slice(0, 1));
  await Promise.all(['a1', 'a1', 'b1', 'a2', 'a1', 'a1'].map(add));
  expect(Object.fromEntries(values)).toEqual({ a: 'a1', b: 'b1' });
});

it('an entry of a later turn goes in a batch of its own, also while the one before is carried out', async () => {
  const { promise: first, resolve } = Promise.withResolvers<void>();
  const wait = async (entries: string[]) => {
    batches.push(entries);
    if (batches.length === 1) await first;
    return entries;
  };
  const add = inBatches(10, wait, nameOf);
  const early = add('a');
  await new Promise(setImmediate);
  expect(await add('a')).toBe('a');
  resolve();
  expect(await early).toBe('a');
  expect(batches).toEqual([['a'], ['a']]);
});

it('a failed batch fails for each of its entries, and for none of another batch', async () => {
  const add = inBatches(2, carryOut());
  expect(await settled(['a', 'bad', 'c'].map(add))).toEqual(['The batch failed.', 'The batch failed.', 'C']);
  expect(batches).toEqual([['a', 'bad'], ['c']]);
});

it('a batch that failed because of one entry is carried out entry by entry, unless it has only this one', async () => {
  const add = inBatches(10, carryOut(itemTooLarge), nameOf);
  const results = await settled(['a', 'bad', 'c', 'bad'].map(add));
  expect(results).toEqual(['A', 'An item is too large.', 'C', 'An item is too large.']);
  expect(batches.splice(0)).toEqual([['a', 'bad', 'c'], ['a'], ['bad'], ['c']]);
  expect(await settled([add('bad')])).toEqual(['An item is too large.']);
  expect(batches).toEqual([['bad']]);
});

it('groups entries in their order, and the last group has the rest', async () => {
  const groups = await Array.fromAsync(inGroups(asyncOf([1, 2, 3, 4, 5]), 2));
  expect(groups).toEqual([[1, 2], [3, 4], [5]]);
});

it.each([[[]], [[1, 2]]])('yields no empty group for %j', async (entries) => {
  expect(await Array.fromAsync(inGroups(asyncOf(entries), 2))).not.toContainEqual([]);
});

it('reads no more entries than a group needs', async () => {
  const read: number[] = [];
  await inGroups(asyncOf([1, 2, 3, 4], read), 2).next();
  expect(read).toEqual([1, 2]);
});

async function* asyncOf(entries: readonly number[], read: number[] = []): AsyncGenerator<number> {
  for (const entry of entries) {
    read.push(entry);
    yield entry;
  }
}
