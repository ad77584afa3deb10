import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { costsPage } from './page.ts';
import { goals } from './workflows.ts';

it('docs/costs.md is the computed page; npm run costs writes it', () => {
  expect(readFileSync('docs/costs.md', 'utf8')).toBe(costsPage());
});

/** Figures above their goal: the alarm on throttled calls costs $0.10 (docs/decisions/17-late-work-and-silence-raise-alarms.md). */
const over = ['a month at rest'];

it.each(goals)('the cost of $what is within its goal, or is a known exception', ({ what, most, dollars }) => {
  expect(dollars > most).toBe(over.includes(what));
});
