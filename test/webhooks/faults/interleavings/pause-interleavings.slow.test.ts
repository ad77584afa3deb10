import { expect, it } from 'vitest';
import { testSeed } from '../../../seeded.ts';
import { preparePipelines } from '../pipeline.ts';
import { checkPauses } from './pause-interleavings.ts';

// A table of its own for every fifty runs: each of them reads all of it.
it.each([1, 2, 3, 4])('no order of pauses and faults loses an event: fifty more runs, %i', async (nth) => {
  await expect(checkPauses(await preparePipelines(), 50, testSeed + nth)).resolves.toBeUndefined();
});
