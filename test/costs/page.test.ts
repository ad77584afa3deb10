import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { countsOf, perMillion, type Step } from './model.ts';
import { costsPage } from './page.ts';
import { costOf } from './prices.ts';
import { usage } from './usage.ts';
import { goals } from './workflows.ts';

it('docs/costs.md is the computed page; npm run costs writes it', () => {
  expect(readFileSync('docs/costs.md', 'utf8')).toBe(costsPage());
});

/** Figures above their goal: the alarm on throttled calls costs $0.10 (docs/decisions/17-late-work-and-silence-raise-alarms.md). */
const over = ['a month at rest'];

it.each(goals)('the cost of $what is within its goal, or is a known exception', ({ what, most, dollars }) => {
  expect(dollars > most).toBe(over.includes(what));
});

it('a price is paid for each unit, less the free ones', () => {
  expect(costOf('queueRequest', 3e6)).toBeCloseTo(1.2);
  expect(costOf('queueRequest', 3e6, { free: true })).toBeCloseTo(0.8);
  expect(costOf('queueRequest', 5e5, { free: true })).toBe(0);
});

const reads: Step = { what: 'read', usage: usage({ requests: 2, rounds: 2, rcu: 3, logBytes: 0 }), by: 'queue' };

it('a message is received and deleted; messages of a batch share the call, but not the requests to the table', () => {
  const [alone, together] = [countsOf(reads), countsOf(reads, 10)];
  expect([alone.queueRequest, alone.call, alone.readUnit]).toEqual([2, 1, 3]);
  expect([together.queueRequest, together.call, together.readUnit]).toEqual([0.2, 0.1, 3]);
  expect(together.gigabyteSecond).toBeCloseTo(alone.gigabyteSecond / 10);
  expect(countsOf({ ...reads, batchSize: 1 }, 10)).toEqual(alone);
});

it('a part of another call has the cost of its requests only', () => {
  const part: Step = { ...reads, by: 'part' };
  expect(perMillion([part])).toBeCloseTo(3 * 0.125);
});
