import { expect, it } from 'vitest';
import { runCrowd } from './crowd.ts';

const seed = Math.floor(Math.random() * 2 ** 31);

it(`five hundred executions at once come to one end each: seed ${seed}`, async () => {
  const { wrong, ends } = await runCrowd(seed, 500);
  expect(wrong).toEqual([]);
  // Two of five claims that die, one after the other, are about one in twenty-five.
  expect(ends.completed).toBeGreaterThan(350);
  expect(ends.lost).toBeGreaterThan(0);
});
