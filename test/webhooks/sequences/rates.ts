import { runSequence } from './run.ts';
import type { Sequence, Step } from './sequence.ts';
import type { Received, SendVia } from './world.ts';

/** The posts of some steps, and the number of writes that take permits and that book times. */
export type RatedRun = { wrong: string[]; posts: readonly Received[]; permits: number; bookings: number };

/** Runs steps with webhooks that have maximum rates; the first one alone by default. */
export async function runRates(
  rates: (number | null)[],
  steps: Step[],
  { deployment = 'local', order = 1 }: Partial<Pick<Sequence, 'deployment' | 'order'>> = {},
): Promise<RatedRun> {
  const writes = { permits: 0, bookings: 0 };
  const via: SendVia = (table) => async (command) => {
    const answer = await table.send(command);
    const text = JSON.stringify((command as { input: object }).input);
    if (text.includes('permittedUntil = ')) writes.permits += 1;
    if (text.includes('bookedUntil = ')) writes.bookings += 1;
    return answer;
  };
  const { wrong, received } = await runSequence({ deployment, order, rates, steps }, via);
  return { wrong, posts: received, ...writes };
}

/** Returns the seconds from the first post to the last one. */
export function secondsOf(posts: readonly Received[]): number {
  const at = posts.map(({ begunAt }) => begunAt);
  return (Math.max(...at) - Math.min(...at)) / 1_000;
}

/** Returns the largest number of posts in a second. */
export function mostInSecond(posts: readonly Received[]): number {
  const at = posts.map(({ begunAt }) => begunAt).sort((a, b) => a - b);
  let first = 0;
  let most = 0;
  for (const [nth, time] of at.entries()) {
    while (time - (at[first] as number) >= 1_000) first++;
    most = Math.max(most, nth - first + 1);
  }
  return most;
}
