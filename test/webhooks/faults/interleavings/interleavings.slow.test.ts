import { expect, it } from 'vitest';
import { testSeed } from '../../../seeded.ts';
import { preparePipelines } from '../pipeline.ts';
import { checkInterleavings } from './interleavings.ts';

// A table of its own for every fifty runs: each of them reads all of it.
it.each([1, 2, 3, 4, 5, 6, 7, 8])('no order of steps and faults loses a delivery: fifty more runs, %i', async (nth) => {
  await expect(checkInterleavings(await preparePipelines(), 50, testSeed + nth)).resolves.toBeUndefined();
});
