import { expect, it } from 'vitest';
import { runManyExecutions } from './many-executions.ts';

const seed = 20_260_301;

it(`each of sixty executions at once ends once, with killed workers and lost messages: seed ${seed}`, async () => {
  const { wrong, ends } = await runManyExecutions(seed, 60);
  expect(wrong).toEqual([]);
  expect(ends.completed).toBeGreaterThan(40);
}, 120_000);
