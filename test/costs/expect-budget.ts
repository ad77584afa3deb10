import { expect } from 'vitest';
import type { Usage } from './usage.ts';

/** The share by which a log may differ from its budget: messages may be reworded. */
const logTolerance = 0.2;

/** Checks that a usage is its budget: the same counts, at most as many rounds, and about as many bytes of log. */
export function expectBudget({ logBytes, ...used }: Usage, { logBytes: budgetedBytes, ...budget }: Usage): void {
  expect({ ...used, rounds: Math.max(used.rounds, budget.rounds) }).toEqual(budget);
  expect(Math.abs(logBytes - budgetedBytes)).toBeLessThanOrEqual(budgetedBytes * logTolerance);
}
