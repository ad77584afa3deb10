import { expect } from 'vitest';
import { fc } from '../../seeded.ts';
import { runSequence } from './run.ts';
import { type Sequence, sequence } from './sequence.ts';

/** A sequence to run instead of random ones: the text that a failure prints. */
const repeated = process.env.SEQUENCE;

/**
 * Runs random sequences, and expects that nothing is wrong at the end of each. Prints the shortest one that it finds.
 *
 * @param searchMs how long the search for a failure, and then for a shorter sequence that fails, may take: less than the
 *   timeout of the test, which prints nothing; in milliseconds
 */
export async function checkSequences(seed: number, numRuns: number, searchMs: number): Promise<void> {
  if (repeated) {
    expect((await runSequence(JSON.parse(repeated) as Sequence)).wrong).toEqual([]);
    return;
  }
  const property = fc.asyncProperty(sequence, async (one) => {
    expect((await runSequence(one)).wrong).toEqual([]);
  });
  const found = await fc.check(property, {
    seed,
    numRuns,
    interruptAfterTimeLimit: searchMs,
    markInterruptAsFailure: true,
  });
  if (!found.failed) return;
  const [failing] = found.counterexample ?? [];
  const wrong = failing
    ? (await runSequence(failing)).wrong.join('\n')
    : `Only ${found.numRuns} sequences were run in time.`;
  expect.fail(
    `${wrong}\nseed ${seed}, after ${found.numRuns} sequences; repeat it with:\nSEQUENCE='${JSON.stringify(failing)}'`,
  );
}
