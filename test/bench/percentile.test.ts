import { expect, it } from 'vitest';
import { percentile } from './percentile.ts';

const upTo = (count: number) => Array.from({ length: count }, (_, at) => count - at);

it.each([
  [1, 0.5, 1],
  [3, 0.5, 2],
  [4, 0.5, 2],
  [100, 0.99, 99],
  [101, 0.99, 100],
  [10, 0.99, 10],
  [10, 1, 10],
])('of the numbers up to %i takes for %f the nearest rank: %i', (count, share, expected) => {
  expect(percentile(upTo(count), share)).toBe(expected);
});

it('leaves the values in their order', () => {
  const values = [3, 1, 2];
  percentile(values, 0.5);
  expect(values).toEqual([3, 1, 2]);
});

it('has no answer for no values', () => {
  expect(() => percentile([], 0.5)).toThrow('of 0 values');
});
