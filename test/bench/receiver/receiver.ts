import { setTimeout as pause } from 'node:timers/promises';
import type { Bench } from '../bench.ts';
import { forkFile } from '../forked.ts';
import type { Arrival } from './arrivals.ts';
import type { Question, Said } from './receiver-process.ts';

/** A receiver in a process of its own. */
export type Receiver = {
  url: string;
  /** Waits until this number of deliveries has arrived, or none for half a minute, and then half a second for repeated ones. */
  settle: (count: number) => Promise<void>;
  /** Returns the arrivals since the last call. */
  take: () => Promise<Arrival[]>;
};

/** The longest wait for the next delivery, and the wait for repeated ones, in milliseconds. */
const [nextWithinMs, repeatedWithinMs] = [30_000, 500];

/** Starts the receiver of a part of the benchmark. */
export async function startReceiver(bench: Bench): Promise<Receiver> {
  const { nextMessage, ask } = forkFile<Question, Said>(bench, new URL('./receiver-process.ts', import.meta.url));
  const { url } = await nextMessage<{ url: string }>();
  return {
    url,
    async settle(count) {
      let [arrived, lastAt] = [0, performance.now()];
      while (arrived < count && performance.now() < lastAt + nextWithinMs) {
        const { count: now } = await ask<{ count: number }>('count');
        if (now > arrived) [arrived, lastAt] = [now, performance.now()];
        else await pause(20);
      }
      await pause(repeatedWithinMs);
    },
    take: async () => (await ask<{ arrivals: Arrival[] }>('take')).arrivals,
  };
}
