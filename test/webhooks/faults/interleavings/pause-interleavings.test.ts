import { expect, it } from 'vitest';
import { testSeed } from '../../../seeded.ts';
import { preparePipelines } from '../pipeline.ts';
import { checkPauses } from './pause-interleavings.ts';

const createPipeline = await preparePipelines();

it('no order of pauses, failures, changes, redeliveries, recoveries and crashes loses an event, or sends to a paused webhook', async () => {
  await expect(checkPauses(createPipeline, 10, testSeed)).resolves.toBeUndefined();
});
