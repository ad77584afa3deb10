import { expect, it } from 'vitest';
import { mostInSecond, type RatedRun, runRates, secondsOf } from './rates.ts';
import type { Sequence, Step } from './sequence.ts';
import type { Received } from './world.ts';

/** Runs steps with one webhook, and expects that nothing is wrong. */
async function run(
  rate: number | null,
  steps: Step[],
  settings?: Partial<Pick<Sequence, 'deployment' | 'order'>>,
): Promise<RatedRun> {
  const done = await runRates([rate], steps, settings);
  expect(done.wrong).toEqual([]);
  return done;
}

const publish = (events: number): Step => ({ after: 0, does: 'publish', events });

it.each([
  ['local', 50, 300, 20],
  ['local', 200, 600, 20],
  ['aws', 50, 200, 5],
] as const)(
  'events that wait are sent at nine tenths or more of the maximum, many for each write: %s, %i a second, %i events',
  async (deployment, rate, events, each) => {
    const { posts, permits, bookings } = await run(rate, [publish(events)], { deployment });
    expect(posts).toHaveLength(events);
    expect(mostInSecond(posts)).toBeLessThanOrEqual(rate);
    expect((events - 1) / secondsOf(posts)).toBeGreaterThan(0.9 * rate);
    expect(Math.max(permits, bookings)).toBeLessThanOrEqual(events / each);
  },
);

it('events that wait at a maximum of one attempt in a second are sent 1.08 s after each other', async () => {
  const { posts, bookings } = await run(1, [publish(40)]);
  expect(posts).toHaveLength(40);
  expect(secondsOf(posts)).toBeLessThan(39 * 1.08 + 1);
  expect(bookings).toBeLessThanOrEqual(40);
});

it('events that wait for longer than a minute are sent without a break', async () => {
  const { posts } = await run(1, [publish(130)]);
  expect(posts).toHaveLength(130);
  expect(secondsOf(posts)).toBeLessThan(130 / 0.9);
});

it('events that wait keep their rate after a step of eight hours forward, as in a machine that slept', async () => {
  const { posts } = await run(1, [publish(40), { after: 3_000, does: 'step clock', seconds: 8 * 3_600 }]);
  expect(posts).toHaveLength(40);
  expect(secondsOf(posts)).toBeLessThan(39 * 1.08 + 3);
});

it('after a change to a higher maximum neither a new event nor those that wait have to wait for the times booked before', async () => {
  const { posts } = await run(1, [
    publish(60),
    { after: 1_000, does: 'set rate', webhook: 0, maxPerSecond: 50 },
    { after: 'answer', does: 'publish', events: 1 },
  ]);
  expect(posts).toHaveLength(61);
  expect(secondsOf(posts)).toBeLessThan(10);
  const newest = posts.toSorted((a, b) => (a.deliveryId < b.deliveryId ? -1 : 1)).at(-1) as Received;
  expect(secondsOf([posts[0] as Received, newest])).toBeLessThan(3);
});

it.each([
  ['local', 10],
  ['local', 11],
  ['aws', 9],
  ['aws', 10],
] as const)(
  'after a removal of the maximum, events that wait are sent at once: %s, calls in order %i',
  async (deployment, order) => {
    const steps: Step[] = [
      { after: 6_000, does: 'set rate', webhook: 0, maxPerSecond: 5 },
      { after: 'answer', does: 'sweep' },
      { ...publish(100), after: 6_000 },
      { after: 'answer', does: 'set rate', webhook: 0, maxPerSecond: null },
      { after: 'answer', does: 'sweep' },
    ];
    const { posts } = await run(1, steps, { deployment, order });
    expect(posts).toHaveLength(100);
    expect(secondsOf(posts)).toBeLessThan(2);
  },
);

it('short pauses leave no unused booked times behind', async () => {
  const shortPause: Step[] = [
    { after: 6_000, does: 'pause', webhook: 0 },
    { after: 1_000, does: 'resume', webhook: 0 },
  ];
  const steps = [publish(40), ...shortPause, ...shortPause, ...shortPause];
  const { posts } = await run(1, steps, { order: 8 });
  expect(posts).toHaveLength(40);
  expect(secondsOf(posts)).toBeLessThan(39 * 1.08 + 7);
});

it('retries that wait for their times are not taken for lost: each attempt books at most once', async () => {
  const hours = 3_600_000;
  const { posts, bookings } = await run(null, [
    { after: 0, does: 'set receiver', webhook: 0, mode: 'failing' },
    publish(60),
    { after: 60_000, does: 'set rate', webhook: 0, maxPerSecond: 1 },
    { after: hours, does: 'set receiver', webhook: 0, mode: 'healthy' },
  ]);
  const retries = posts.filter(({ handling }) => handling.message.attempt === 2);
  expect(retries).toHaveLength(60);
  expect(secondsOf(retries)).toBeLessThan(59 * 1.08 + 8);
  expect(bookings).toBeLessThanOrEqual(posts.length - 60);
});
