import { expect, it } from 'vitest';
import { halfSteps, openDeadlyWorkshop } from './killed.ts';

it.each([1, 7, 23, 29])(
  'an execution whose worker is killed at any half step, and the next %i further, comes to one end',
  async (further) => {
    const workshop = await openDeadlyWorkshop();
    const killed = await Promise.all(Array.from({ length: halfSteps }, (_, left) => workshop.killedAfter(left)));
    const nth = new Map(killed.map(({ id }, at) => [id, at]));
    await workshop.recover((id) => ((nth.get(id) ?? 0) + further) % halfSteps);
    await workshop.recover();
    const { executions, wrong } = await workshop.recount();
    expect(wrong).toEqual([]);
    expect(new Set(executions.map(({ status, error }) => error ?? status))).toEqual(new Set(['completed', 'lost']));
    // Only two claims that were lost make an execution lost: a third says so, or a fourth where that one died of it.
    for (const { error, claims } of executions) expect(error === 'lost').toBe(claims > 2);
  },
);
