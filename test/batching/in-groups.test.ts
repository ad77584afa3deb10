import { expect, it } from 'vitest';
import { inGroups } from '../../lib/batching/in-groups.ts';

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
