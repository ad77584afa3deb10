import { expect, it } from 'vitest';
import { fc } from '../../seeded.ts';
import { runGraph, steps } from './delegation-graph.ts';

it('no chain of delegations among 200 agents at once is longer than three or contains an agent twice', async () => {
  const property = fc.asyncProperty(steps(500), fc.constantFrom(1, 4, 12), async (taken, atOnce) => {
    expect(await runGraph(taken, atOnce)).toEqual({ wrong: [], deepest: 3 });
  });
  await fc.assert(property, { numRuns: 3, endOnFailure: true });
});
