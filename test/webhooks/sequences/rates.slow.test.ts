import { expect, it } from 'vitest';
import { mostInSecond, runRates, secondsOf } from './rates.ts';

it.each([
  ['local', 1_000, 2_000, 20],
  ['aws', 1_000, 2_000, 5],
  ['aws', 200, 1_000, 5],
] as const)(
  'events that wait are sent at nine tenths or more of the maximum, many for each write: %s, %i a second, %i events',
  async (deployment, rate, events, each) => {
    const steps = [{ after: 0, does: 'publish' as const, events }];
    const { wrong, posts, permits, bookings } = await runRates([rate], steps, { deployment });
    expect(wrong).toEqual([]);
    expect(posts).toHaveLength(events);
    expect(mostInSecond(posts)).toBeLessThanOrEqual(rate);
    expect((events - 1) / secondsOf(posts)).toBeGreaterThan(0.9 * rate);
    expect(Math.max(permits, bookings)).toBeLessThanOrEqual(events / each);
  },
);
