import { expect, it } from 'vitest';
import { runCrowd } from './crowd.ts';

const seed = 20_260_301;

it(`each of sixty executions at once ends once, whatever happens to their workers and messages: seed ${seed}`, async () => {
  const { wrong, ends } = await runCrowd(seed, 60);
  expect(wrong).toEqual([]);
  expect(ends.completed).toBeGreaterThan(40);
}, 120_000);
