import { expect, it } from 'vitest';
import { durationText, relativeTime } from '../../../../lib/console/components/format/time-text.ts';

it.each([
  [0, 'now'],
  [-999, 'now'],
  [-17_000, '17 s ago'],
  [-119_000, '1 min ago'],
  [-120_000, '2 min ago'],
  [3 * 3_600_000, 'in 3 h'],
  [-86_400_000, '1 day ago'],
  [-90 * 86_400_000, '90 days ago'],
])('a time of %i ms from now is %s', (ms, text) => {
  const now = Date.UTC(2026, 10, 14);
  expect(relativeTime(now + ms, now)).toBe(text);
});

it.each([
  [35, '35 ms'],
  [1_249, '1.2 s'],
  [59_949, '59.9 s'],
  [59_950, '1 min 0 s'],
  [245_000, '4 min 5 s'],
  [7_800_000, '2 h 10 min'],
])('a duration of %i ms is %s', (ms, text) => {
  expect(durationText(ms)).toBe(text);
});
