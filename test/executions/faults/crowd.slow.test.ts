import { expect, it } from 'vitest';
import { testSeed } from '../../seeded.ts';
import { runCrowd } from './crowd.ts';

it(`each of five hundred executions at once ends once: seed ${testSeed}`, async () => {
  const { wrong, ends } = await runCrowd(testSeed, 500);
  expect(wrong).toEqual([]);
  // Two of five claims that die, one after the other, are about one in twenty-five.
  expect(ends.completed).toBeGreaterThan(350);
  expect(ends.lost).toBeGreaterThan(0);
});
