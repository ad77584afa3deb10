import { expect, it } from 'vitest';
import { planOf } from './plan.ts';

const asked = { seed: 7, events: 2000, faults: 200 };

it('plans the same faults for the same seed, and others for another', () => {
  expect(planOf(asked, 3)).toEqual(planOf(asked, 3));
  expect(planOf({ ...asked, seed: 8 }, 3)).not.toEqual(planOf(asked, 3));
});

it('plans the given number of faults, of every kind, in the order of the events', () => {
  const plan = planOf(asked, 3);
  expect(plan).toHaveLength(200);
  expect(new Set(plan.map(({ fault }) => fault.kind)).size).toBe(12);
  expect(plan.map(({ after }) => after)).toEqual(plan.map(({ after }) => after).sort((a, b) => a - b));
  expect(plan.filter(({ fault }) => fault.kind.startsWith('kill -9')).length).toBeGreaterThanOrEqual(10);
});
