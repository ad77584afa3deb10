import { expect } from 'vitest';
import type { Usage } from './usage.ts';

/** The share by which a log may differ from its budget: messages may be reworded. */
const logTolerance = 0.2;

/** Checks that a usage is its budget: the same counts, and about as many bytes of log. */
export function expectBudget({ logBytes, ...used }: Usage, { logBytes: budgetedBytes, ...budget }: Usage): void {
  expect(used).toEqual(budget);
  expect(Math.abs(logBytes - budgetedBytes)).toBeLessThanOrEqual(budgetedBytes * logTolerance);
}
