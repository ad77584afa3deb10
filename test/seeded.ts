import fc from 'fast-check';

/**
 * The seed of all random inputs of a test file: `TEST_SEED`, or a new one each time. A failure prints it, and
 * `TEST_SEED=… npm test` repeats the same inputs.
 *
 * CI sets it, so that a change does not fail for an older bug. Runs of developers find such bugs.
 */
export const testSeed = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 2 ** 31));

fc.configureGlobal({ seed: testSeed });

export { fc };
