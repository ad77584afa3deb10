import { setImmediate } from 'node:timers/promises';
import type { Context } from '../../lib/context.ts';
import { type Clock, clockAt } from '../service.ts';

/** Lets everything go on that waits for nothing but its turn. */
export const turn = (): Promise<void> => setImmediate();

/** Somebody who waits for a moment. */
type Waiter = { at: number; wake: () => void };

/**
 * Opens a timeline at a moment, in milliseconds since 1970: a clock that stands still, and pauses that end when it is
 * moved past them.
 *
 * @param rest returns once nothing is under way that could still begin or end a pause
 */
export function openTimeline(opening: number, rest: () => Promise<void> = turn) {
  const clock: Clock = clockAt(opening);
  const waiters = new Set<Waiter>();

  /** Ends with the time or with the signal, as the service's own does. */
  const pause: Context['pause'] = (milliseconds, signal) => {
    if (signal.aborted) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiter = { at: clock() + Math.ceil(milliseconds), wake: end };
    waiters.add(waiter);
    signal.addEventListener('abort', end, { once: true });
    return promise;

    function end(): void {
      waiters.delete(waiter);
      signal.removeEventListener('abort', end);
      resolve();
    }
  };

  const timeline = {
    clock,
    pause,

    /** How many wait. */
    waiting: (): number => waiters.size,

    /** When the first of those that wait goes on. */
    nextAt: (): number => Math.min(...[...waiters].map(({ at }) => at)),

    /** Lets time pass up to a moment: whoever waits goes on at its own. */
    async until(moment: number): Promise<void> {
      for (await rest(); timeline.nextAt() <= moment; await rest()) {
        clock.now = Math.max(clock(), timeline.nextAt());
        for (const { at, wake } of [...waiters]) if (at <= clock()) wake();
      }
      clock.now = Math.max(clock(), moment);
    },

    /** Lets so much time pass. */
    pass: (milliseconds: number): Promise<void> => timeline.until(clock() + milliseconds),

    /** Lets time pass until something is done, and returns what it came to. */
    async finish<Result>(work: Promise<Result>): Promise<Result> {
      let ended = false;
      const end = () => {
        ended = true;
      };
      work.then(end, end);
      for (await rest(); !ended; await rest()) {
        if (waiters.size === 0) throw new Error('Nobody waits, and it is not done.');
        await timeline.until(timeline.nextAt());
      }
      return work;
    },
  };
  return timeline;
}
