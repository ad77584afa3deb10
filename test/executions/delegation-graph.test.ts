import { expect, it } from 'vitest';
import { fc } from '../seeded.ts';
import { runGraph, steps } from './delegation-graph.ts';

const seed = 20_260_301;

it(`of 200 agents none is given back what it has handed on, and none a fourth hand: seed ${seed}`, async () => {
  const [taken = []] = fc.sample(steps(80), { seed, numRuns: 1 });
  const { wrong, answers, deepest } = await runGraph(taken, 1);
  expect(wrong).toEqual([]);
  expect(deepest).toBe(3);
  for (const answer of ['accepted', 'delegation_cycle', 'delegation_too_deep'])
    expect(answers[answer]).toBeGreaterThan(0);
});
