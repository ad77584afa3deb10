import { expect, it } from 'vitest';
import { fc } from '../seeded.ts';
import { runGraph, steps } from './delegation-graph.ts';

it('whatever 200 agents hand on at once, it ends after three times and never comes back', async () => {
  const property = fc.asyncProperty(steps(500), fc.constantFrom(1, 4, 12), async (taken, atOnce) => {
    const { wrong, deepest } = await runGraph(taken, atOnce);
    expect(wrong).toEqual([]);
    expect(deepest).toBe(3);
  });
  await fc.assert(property, { numRuns: 3, endOnFailure: true });
});
