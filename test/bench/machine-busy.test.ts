import { expect, it } from 'vitest';
import { busyShare, coreTimes } from './machine-busy.ts';

it('takes as busy what was not idle between two moments', () => {
  expect(busyShare({ idle: 100, all: 1_000 }, { idle: 125, all: 1_100 })).toBe(0.75);
});

it('reads how long the cores have been idle, and how long in all', () => {
  const { idle, all } = coreTimes();
  expect(idle).toBeGreaterThan(0);
  expect(all).toBeGreaterThan(idle);
});
