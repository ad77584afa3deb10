import { expect, it } from 'vitest';
import { figure, percentile, ratesOf, spread } from './figures.ts';

it('figures have the given number of decimals', () => {
  expect([figure(1234.5), figure(0.25, 2), figure(7, 1)]).toEqual(['1,235', '0.25', '7.0']);
});

it('several runs are their median with the least and the greatest, a single run is its figure', () => {
  expect(spread([3, 1, 2])).toBe('2 (1–3)');
  expect(spread([0.5, 0.25, 1], 2)).toBe('0.50 (0.25–1.00)');
  expect(spread([3])).toBe('3');
});

it.each([
  [1, 0.5, 1],
  [3, 0.5, 2],
  [4, 0.5, 2],
  [100, 0.99, 99],
  [101, 0.99, 100],
  [10, 1, 10],
])('of the numbers up to %i the percentile %f is the nearest rank: %i', (count, share, expected) => {
  const values = Array.from({ length: count }, (_, at) => count - at);
  expect(percentile(values, share)).toBe(expected);
  expect(values[0]).toBe(count);
});

it('no values have no percentile', () => {
  expect(() => percentile([], 0.5)).toThrow('of 0 values');
});

it('the rate of each slice leaves out what is completed after the time', () => {
  expect(ratesOf([0, 100, 499, 500, 999], 1_000, 2)).toEqual([6, 4]);
  expect(ratesOf([100, 1_000, 5_000], 1_000, 2)).toEqual([2, 0]);
});
