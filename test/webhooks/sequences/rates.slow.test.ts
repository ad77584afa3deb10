import { expect, it } from 'vitest';
import { mostInSecond, runRates, secondsOf } from './rates.ts';
import type { Step } from './sequence.ts';

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

it.each(['local', 'aws'] as const)(
  'more events than all calls of a queue can hold wait for their turn, and delay no other webhook: %s',
  async (deployment) => {
    const others = 20;
    // The first webhook is not subscribed to the other event.
    const steps: Step[] = [
      { after: 0, does: 'publish', events: 2_500 },
      { after: 6_000, does: 'publish', events: others, event: 'task.completed' },
    ];
    const { wrong, posts } = await runRates([50, null], steps, { deployment });
    expect(wrong).toEqual([]);
    const first = Math.min(...posts.map(({ begunAt }) => begunAt));
    const late = posts.filter(({ webhook, begunAt }) => webhook.events.length > 1 && begunAt >= first + 5_900);
    const [newest] = late.toSorted((a, b) => b.begunAt - a.begunAt);
    expect(late.length).toBeGreaterThanOrEqual(others);
    expect((newest?.begunAt ?? 0) - first).toBeLessThan(deployment === 'aws' ? 6_100 : 11_000);
  },
);
