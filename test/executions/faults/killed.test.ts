import { afterEach, expect, it, vi } from 'vitest';
import { createKilledWorkers, halfSteps, halfStepsWithTools } from './killed.ts';

afterEach(() => vi.restoreAllMocks());

it.each([
  { throttles: false, first: 'completes it' },
  { throttles: true, first: 'returns its lease' },
])(
  'an execution whose first worker $first, killed at any half of any step, is completed once by the next workers',
  async ({ throttles }) => {
    const fixture = await createKilledWorkers({ throttles });
    const killed = await fixture.killAtEachHalfStep();
    // The first worker is killed at the first half step, the last one is not killed: so all half steps are covered.
    expect([killed[0]?.ended, killed.at(-1)?.ended]).toEqual(['dead', 'done']);
    expect(killed.filter(({ ended }) => ended === 'dead').length).toBeGreaterThan(12);
    await fixture.recover();
    const { executions, wrong } = await fixture.check();
    expect(wrong).toEqual([]);
    expect(executions).toHaveLength(halfSteps);
    for (const { status } of executions) expect(status).toBe('completed');
  },
);

it('an execution of six steps whose worker is killed at any half of any step leaves the board as if it had not been', async () => {
  const fixture = await createKilledWorkers({ callsTools: true });
  const killed = await fixture.killAtEachHalfStep();
  expect([killed[0]?.ended, killed.at(-1)?.ended]).toEqual(['dead', 'done']);
  expect(killed.filter(({ ended }) => ended === 'dead').length).toBeGreaterThan(30);
  await fixture.recover();
  const { executions, wrong } = await fixture.check();
  expect(wrong).toEqual([]);
  expect(executions).toHaveLength(halfStepsWithTools);
  for (const { status } of executions) expect(status).toBe('completed');
});
