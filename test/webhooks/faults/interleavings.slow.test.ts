import { expect, it } from 'vitest';
import { checkInterleavings } from './interleavings.ts';
import { openLines } from './line.ts';

// A table of its own for every fifty runs: each of them reads all of it.
it.each([1, 2, 3, 4, 5, 6, 7, 8])('no order of steps and faults loses a delivery: fifty more runs, %i', async () => {
  await expect(checkInterleavings(await openLines(), 50)).resolves.toBeUndefined();
});
