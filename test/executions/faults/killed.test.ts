import { expect, it } from 'vitest';
import { createKilledWorkers, halfSteps } from './killed.ts';

it('an execution whose worker stops at any half of any step is completed once, by the next worker', async () => {
  const fixture = await createKilledWorkers();
  const killed = await Promise.all(Array.from({ length: halfSteps }, (_, left) => fixture.killedAfter(left)));
  // The first worker is killed at the first half step, the last one is not killed: so all half steps are covered.
  expect([killed[0]?.ended, killed.at(-1)?.ended]).toEqual(['dead', 'done']);
  expect(killed.filter(({ ended }) => ended === 'dead').length).toBeGreaterThan(20);
  await fixture.recover();
  const { executions, wrong } = await fixture.check();
  expect(wrong).toEqual([]);
  expect(executions).toHaveLength(halfSteps);
  for (const { status, tokensUsed } of executions) expect([status, tokensUsed]).toEqual(['completed', 111]);
}, 120_000);
