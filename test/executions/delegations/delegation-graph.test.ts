import { expect, it } from 'vitest';
import { fc } from '../../seeded.ts';
import { runGraph, steps } from './delegation-graph.ts';

const seed = 20_260_301;

it(`no chain of delegations among 200 agents is longer than three or contains an agent twice: seed ${seed}`, async () => {
  const [taken = []] = fc.sample(steps(80), { seed, numRuns: 1 });
  expect(await runGraph(taken, 1)).toEqual({ wrong: [], deepest: 3 });
});
