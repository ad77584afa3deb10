import { expect, it } from 'vitest';
import { testSeed } from '../../seeded.ts';
import { checkInterleavings } from './interleavings.ts';
import { openLines } from './line.ts';

const newLine = await openLines();

it('no order of steps and faults loses a delivery, repeats it without need, or leaves it waiting', async () => {
  await expect(checkInterleavings(newLine, 20, testSeed)).resolves.toBeUndefined();
});
