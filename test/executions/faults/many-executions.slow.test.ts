import { expect, it } from 'vitest';
import { testSeed } from '../../seeded.ts';
import { runManyExecutions } from './many-executions.ts';

it(`each of five hundred executions at once ends once: seed ${testSeed}`, async () => {
  const { wrong, ends } = await runManyExecutions(testSeed, 500);
  expect(wrong).toEqual([]);
  // A fifth of the workers are killed, so about one execution in 25 loses two workers in a row.
  expect(ends.completed).toBeGreaterThan(350);
  expect(ends.lost).toBeGreaterThan(0);
});
