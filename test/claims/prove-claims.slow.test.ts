import { expect, it } from 'vitest';
import { testSeed } from '../seeded.ts';
import { proveClaims } from './prove-claims.ts';

it('20 workers take 100 tasks, each task by one worker at a time, although workers are killed, late and lose answers', async () => {
  const proof = await proveClaims({ workers: 20, tasks: 100, seed: testSeed });
  expect(proof.wrong).toEqual([]);
  const { killed, late, lostAnswers, renewals, conflicts } = proof;
  // Otherwise the plan would prove nothing.
  expect(Math.min(killed, late, lostAnswers, renewals, conflicts)).toBeGreaterThan(0);
  expect(proof.unitsForEachClaim).toBeLessThanOrEqual(24);
});
