import { expect, it } from 'vitest';
import { createKilledWorkers, halfSteps } from './killed.ts';

it.each([1, 7, 23, 29])(
  'an execution whose worker is killed at any half step, and the next one %i later, ends once',
  async (further) => {
    const fixture = await createKilledWorkers();
    const killed = await Promise.all(Array.from({ length: halfSteps }, (_, left) => fixture.killAfter(left)));
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
