import { beforeEach, describe, expect, it } from 'vitest';
import { inBatches } from '../../lib/batching/in-batches.ts';

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

describe('a batch that fails', () => {
  it('fails for each of its entries, and for none of another batch', async () => {
    const add = inBatches(2, carryOut());
    expect(await settled(['a', 'bad', 'c'].map(add))).toEqual(['The batch failed.', 'The batch failed.', 'C']);
    expect(batches).toEqual([['a', 'bad'], ['c']]);
  });

  it('because of what one entry says is carried out entry by entry, and only that one fails', async () => {
    const add = inBatches(10, carryOut(itemTooLarge), nameOf);
    const results = await settled(['a', 'bad', 'c', 'bad'].map(add));
    expect(results).toEqual(['A', 'An item is too large.', 'C', 'An item is too large.']);
    expect(batches).toEqual([['a', 'bad', 'c'], ['a'], ['bad'], ['c']]);
  });

  it('because of what its only entry says is not carried out again', async () => {
    const add = inBatches(10, carryOut(itemTooLarge));
    expect(await settled([add('bad')])).toEqual(['An item is too large.']);
    expect(batches).toEqual([['bad']]);
  });
});
