import { expect, it } from 'vitest';
import { ratesOf } from './slices.ts';

it('tells the rate of each slice', () => {
  expect(ratesOf([0, 100, 499, 500, 999], 1_000, 2)).toEqual([6, 4]);
});

it('leaves out what was done after the time', () => {
  expect(ratesOf([100, 1_000, 5_000], 1_000, 2)).toEqual([2, 0]);
});
