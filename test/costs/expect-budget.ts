import { expect } from 'vitest';
import type { Usage } from './usage.ts';

/** Holds what was used to its budget: the same of everything, and of rounds no more. */
export function expectBudget(used: Usage, budget: Usage): void {
  expect({ ...used, rounds: Math.max(used.rounds, budget.rounds) }).toEqual(budget);
}
