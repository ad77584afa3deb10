import { expect, it } from 'vitest';
import { setBounded } from '../../lib/contract/bounded-map.ts';

it('a bounded map drops the entry that was added first, and none for an entry that it has', () => {
  const map = new Map<string, number>();
  for (const [at, key] of ['a', 'b', 'c'].entries()) setBounded(map, key, at, 3);
  setBounded(map, 'a', 9, 3);
  expect([...map]).toEqual([
    ['a', 9],
    ['b', 1],
    ['c', 2],
  ]);
  setBounded(map, 'd', 3, 3);
  expect([...map.keys()]).toEqual(['b', 'c', 'd']);
});
