import { setImmediate as turn } from 'node:timers/promises';

/** How many turns of the event loop code needs at most to send its next request after a response. */
const turns = 6;

/** A time that moves only when all work waits for it. */
export type VirtualTime = ReturnType<typeof createVirtualTime>;

/** Creates a virtual time. Real requests of the work have to pass `real`, so that the time waits for them. */
export function createVirtualTime(start: number) {
  let now = start;
  let inProgress = 0;
  const waiting: { at: number; wake: () => void }[] = [];

  return {
    now: () => now,

    /** Waits until the time has moved on. */
    wait: (ms: number) => new Promise<void>((wake) => waiting.push({ at: now + ms, wake })),

    /** Makes a real request, during which the time stands still. */
    async real<Result>(send: () => Promise<Result>): Promise<Result> {
      inProgress++;
      try {
        return await send();
      } finally {
        inProgress--;
      }
    },

    /** Moves the time until the work is done. */
    async run(work: Promise<unknown>): Promise<void> {
      let done = false;
      const ended = work.finally(() => {
        done = true;
      });
      while (!done) {
        for (let quiet = 0; quiet < turns; quiet++) {
          await turn();
          if (inProgress > 0) quiet = -1;
        }
        if (done) break;
        const next = Math.min(...waiting.map(({ at }) => at));
        if (next === Number.POSITIVE_INFINITY) throw new Error('The work waits for nothing.');
        now = next;
        for (const one of waiting.filter(({ at }) => at <= now)) {
          waiting.splice(waiting.indexOf(one), 1);
          one.wake();
        }
      }
      await ended;
    },
  };
}
