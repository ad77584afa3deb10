import { expect, it } from 'vitest';
import { figure, spread } from './figures.ts';

it('writes figures with as many decimals as are asked for', () => {
  expect([figure(1234.5), figure(0.25, 2), figure(7, 1)]).toEqual(['1,235', '0.25', '7.0']);
});

it('writes several runs as their median with the least and the greatest', () => {
  expect(spread([3, 1, 2])).toBe('2 (1–3)');
  expect(spread([0.5, 0.25, 1], 2)).toBe('0.50 (0.25–1.00)');
});

it('writes a single run alone', () => {
  expect(spread([3])).toBe('3');
});
