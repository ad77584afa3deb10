import fc from 'fast-check';
import { expect, it } from 'vitest';
import { runGraph, steps } from './delegation-graph.ts';

const seed = Math.floor(Math.random() * 2 ** 31);

it(`whatever 200 agents hand on at once, it ends after three times and never comes back: seed ${seed}`, async () => {
  const property = fc.asyncProperty(steps(500), fc.constantFrom(1, 4, 12), async (taken, atOnce) => {
    const { wrong, deepest } = await runGraph(taken, atOnce);
    expect(wrong).toEqual([]);
    expect(deepest).toBe(3);
  });
  await fc.assert(property, { seed, numRuns: 6, endOnFailure: true });
});
