import { expect, it } from 'vitest';
import { runSequence } from './run.ts';
import type { Sequence, Step } from './sequence.ts';
import type { Received, SendVia } from './world.ts';

/** Runs steps with one webhook; returns its posts, and the number of times that attempts have booked. */
async function run(
  rate: number | null,
  steps: Step[],
  { deployment = 'local', order = 1 }: Partial<Pick<Sequence, 'deployment' | 'order'>> = {},
): Promise<{ posts: readonly Received[]; bookings: number }> {
  let bookings = 0;
  const via: SendVia = (table) => async (command) => {
    const answer = await table.send(command);
    const text = JSON.stringify((command as { input: object }).input);
    if (text.includes('bookedUntil = ')) bookings += 1;
    return answer;
  };
  const { wrong, received } = await runSequence({ deployment, order, rates: [rate], steps }, via);
  expect(wrong).toEqual([]);
  return { posts: received, bookings };
}

const publish = (events: number): Step => ({ after: 0, does: 'publish', events });

/** Returns the seconds from the first post to the last one. */
function secondsOf(posts: readonly Received[]): number {
  const at = posts.map(({ begunAt }) => begunAt);
  return (Math.max(...at) - Math.min(...at)) / 1_000;
}

it('events that wait at a maximum of one attempt in a second are sent 1.2 s after each other', async () => {
  const { posts, bookings } = await run(1, [publish(40)]);
  expect(posts).toHaveLength(40);
  expect(secondsOf(posts)).toBeLessThan(39 * 1.2 + 1);
  expect(bookings).toBeLessThanOrEqual(40);
});

it('events that wait keep their rate after a step of eight hours forward, as in a machine that slept', async () => {
  const { posts } = await run(1, [publish(40), { after: 3_000, does: 'step clock', seconds: 8 * 3_600 }]);
  expect(posts).toHaveLength(40);
  expect(secondsOf(posts)).toBeLessThan(39 * 1.2 + 3);
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
  expect(secondsOf(posts)).toBeLessThan(39 * 1.2 + 4);
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
  // No attempt begins from 60 to 90 s after it was due.
  expect(secondsOf(retries)).toBeLessThan(59 * 1.2 + 30 + 8);
  expect(bookings).toBeLessThanOrEqual(posts.length - 60);
});
