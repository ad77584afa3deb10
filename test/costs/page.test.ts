import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { costsPage } from './page.ts';
import { goals } from './workflows.ts';

it('docs/costs.md is the computed page; npm run costs writes it', () => {
  expect(readFileSync('docs/costs.md', 'utf8')).toBe(costsPage());
});

it.each(goals)('the cost of $what is within its goal', ({ most, dollars }) => {
  expect(dollars).toBeLessThanOrEqual(most);
});
