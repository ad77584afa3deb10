import { expect, it } from 'vitest';
import { testSeed } from '../../../seeded.ts';
import { preparePipelines } from '../pipeline.ts';
import { checkInterleavings } from './interleavings.ts';

const createPipeline = await preparePipelines();

it('no order of steps and faults loses a delivery, repeats it without need, or leaves it waiting', async () => {
  await expect(checkInterleavings(createPipeline, 20, testSeed)).resolves.toBeUndefined();
});
