import { expect, it } from 'vitest';
import { halfSteps, openDeadlyWorkshop } from './killed.ts';

it('an execution whose worker stops at any half of any step is completed once, by the next worker', async () => {
  const workshop = await openDeadlyWorkshop();
  const killed = await Promise.all(Array.from({ length: halfSteps }, (_, left) => workshop.killedAfter(left)));
  // Who dies at the first step and who has steps enough: what lies between is every step there is.
  expect([killed[0]?.ended, killed.at(-1)?.ended]).toEqual(['dead', 'done']);
  expect(killed.filter(({ ended }) => ended === 'dead').length).toBeGreaterThan(20);
  await workshop.recover();
  const { executions, wrong } = await workshop.recount();
  expect(wrong).toEqual([]);
  expect(executions).toHaveLength(halfSteps);
  for (const { status, tokensUsed } of executions) expect([status, tokensUsed]).toEqual(['completed', 111]);
}, 120_000);
