import { expect } from 'vitest';
import type { Usage } from './usage.ts';

/** How much longer or shorter than in its budget a log may be: costs stay correct, and a message may be reworded. */
const logTolerance = 0.2;

/** Holds a usage to its budget: the same of everything, at most as many rounds, and about as many bytes of log. */
export function expectBudget({ logBytes, ...used }: Usage, { logBytes: budgetedBytes, ...budget }: Usage): void {
  expect({ ...used, rounds: Math.max(used.rounds, budget.rounds) }).toEqual(budget);
  expect(Math.abs(logBytes - budgetedBytes)).toBeLessThanOrEqual(budgetedBytes * logTolerance);
}
