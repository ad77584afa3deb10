import { expect } from 'vitest';
import type { Cost } from './capacity.ts';

/** Holds a cost to its most. */
export function expectAtMost(cost: Cost, most: Partial<Cost>): void {
  const over = (Object.keys(most) as (keyof Cost)[]).filter((unit) => cost[unit] > (most[unit] ?? 0));
  expect({ over, cost }).toEqual({ over: [], cost });
}
