import fc from 'fast-check';

/**
 * The seed of everything random in a test file: `TEST_SEED`, or another one each time. A failure says it, and
 * `TEST_SEED=… npm test` repeats the same inputs.
 *
 * CI sets it, so that a change is not refused for a bug that it did not bring: runs of developers find those.
 */
export const testSeed = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 2 ** 31));

fc.configureGlobal({ seed: testSeed });

export { fc };
