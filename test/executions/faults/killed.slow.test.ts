import { expect, it } from 'vitest';
import { createKilledWorkers, halfSteps, halfStepsWithTools } from './killed.ts';

// With each of these distances both workers of several executions are killed while they hold the lease.
it.each([1, 7, 35, 40])(
  'an execution whose worker is killed at any half step, and the next one %i later, ends once',
  async (further) => {
    const fixture = await createKilledWorkers();
    const killed = await fixture.killAtEachHalfStep();
    const nth = new Map(killed.map(({ id }, at) => [id, at]));
    await fixture.recover((id) => ((nth.get(id) ?? 0) + further) % halfSteps);
    await fixture.recover();
    const { executions, wrong } = await fixture.check();
    expect(wrong).toEqual([]);
    expect(new Set(executions.map(({ status, error }) => error ?? status))).toEqual(new Set(['completed', 'lost']));
    // An execution is lost after two lost leases. The third worker writes that, or the fourth if the third is killed too.
    for (const { error, claims } of executions) expect(error === 'lost').toBe(claims > 2);
  },
);

it.each([1, 3, 9])(
  'an execution of six steps whose worker is killed at any half step, and the next one %i later, does nothing twice',
  async (further) => {
    const fixture = await createKilledWorkers({ callsTools: true });
    const killed = await fixture.killAtEachHalfStep();
    const nth = new Map(killed.map(({ id }, at) => [id, at]));
    await fixture.recover((id) => ((nth.get(id) ?? 0) + further) % halfStepsWithTools);
    await fixture.recover();
    const { executions, wrong } = await fixture.check();
    expect(wrong).toEqual([]);
    for (const { status, error } of executions) expect(['completed', 'lost']).toContain(error ?? status);
  },
);
