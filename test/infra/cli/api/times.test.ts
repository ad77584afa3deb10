import { expect, it } from 'vitest';
import { readDuration, timeReader } from '../../../../infra/cli/api/times.ts';

const now = Date.parse('2026-11-22T10:00:00.000Z');
const read = timeReader(() => now);

it('reads durations in seconds, minutes, hours and days', () => {
  expect(['30s', '15m', '1h', '2d'].map(readDuration)).toEqual([30_000, 900_000, 3_600_000, 172_800_000]);
});

it('takes a duration for the time that long ago, and a time as it is', () => {
  expect(read('1h')).toBe('2026-11-22T09:00:00.000Z');
  expect(read('2d')).toBe('2026-11-20T10:00:00.000Z');
  expect(read('999999d')).toBe('1970-01-01T00:00:00.000Z');
  expect(read('2026-11-22T00:00:00+01:00')).toBe('2026-11-22T00:00:00+01:00');
});

it.each(['', '1', 'h', '0h', '-1h', '1 h', '1w', '1.5h', 'yesterday', '2026-11-22'])('rejects %j', (given) => {
  expect(() => readDuration(given)).toThrow('It must be a duration such as 30s, 15m, 1h or 2d.');
  expect(() => read(given)).toThrow(
    /^It must be a time in ISO 8601 .*\. Or write how long ago it was, such as 1h or 2d\.$/,
  );
});
