import { expect, it } from 'vitest';
import { testSeed } from '../../seeded.ts';
import { checkSequences } from './check-sequences.ts';

it.each([1, 2])('no sequence of steps loses a delivery: 500 more sequences, %i', async (nth) => {
  await expect(checkSequences(testSeed + nth, 500, 240_000)).resolves.toBeUndefined();
});
