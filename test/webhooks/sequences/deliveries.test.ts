import { expect, it } from 'vitest';
import { testSeed } from '../../seeded.ts';
import { checkSequences } from './check-sequences.ts';

it('no sequence of steps loses a delivery, repeats it without need, sends it too late or too fast, or leaves anything', async () => {
  await expect(checkSequences(testSeed, 40, 90_000)).resolves.toBeUndefined();
});
