import { expect } from 'vitest';
import type { Cost } from './capacity.ts';

/** Checks that a cost is within its limits. */
export function expectAtMost(cost: Cost, most: Partial<Cost>): void {
  const over = (Object.keys(most) as (keyof Cost)[]).filter((unit) => cost[unit] > (most[unit] ?? 0));
  expect({ over, cost }).toEqual({ over: [], cost });
}
