import { expect, test } from 'vitest';
import { isPaused, isPausedAt } from '../../../lib/table/webhooks/pauses.ts';

const at = (minute: number) => Date.UTC(2026, 10, 23, 9, minute);
const iso = (minute: number) => new Date(at(minute)).toISOString();

test('a webhook of an earlier version was never paused', () => {
  expect(isPaused({})).toBe(false);
  expect(isPausedAt({}, at(0))).toBe(false);
});

test('a pause includes its start and excludes its end', () => {
  const webhook = { pauses: [{ from: iso(1), until: iso(3) }, { from: iso(5) }] };
  expect([0, 1, 2, 3, 4, 5, 6].filter((minute) => isPausedAt(webhook, at(minute)))).toEqual([1, 2, 5, 6]);
});

test('a webhook is paused until its last pause ends', () => {
  const ended = { from: iso(1), until: iso(3) };
  expect(isPaused({ pauses: [ended, { from: iso(5) }] })).toBe(true);
  expect(isPaused({ pauses: [ended] })).toBe(false);
});
