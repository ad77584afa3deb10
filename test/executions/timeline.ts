import { setImmediate } from 'node:timers/promises';
import type { Context } from '../../lib/context/context.ts';
import { type Clock, clockAt } from '../service.ts';

/** Lets all pending callbacks run. */
export const turn = (): Promise<void> => setImmediate();

/** A pause that has not ended. */
type Waiter = { at: number; end: () => void };

/** Creates a clock that only tests move, and pauses that end with it; `rest` waits for operations under way. */
export function createTimeline(opening: number, rest: () => Promise<void> = turn) {
  const clock: Clock = clockAt(opening);
  const waiters = new Set<Waiter>();

  /** Ends with the time or with the signal, like the pause of the service. */
  const pause: Context['pause'] = (milliseconds, signal) => {
    if (signal.aborted) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiter = { at: clock() + Math.ceil(milliseconds), end };
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
    monotonic: clock,
    pause,

    /** Returns the number of pauses that have not ended. */
    waiting: (): number => waiters.size,

    /** Returns the time at which the next pause ends. */
    nextAt: (): number => Math.min(...[...waiters].map(({ at }) => at)),

    /** Moves the clock to a time, and ends each pause at its own time. */
    async until(moment: number): Promise<void> {
      for (await rest(); timeline.nextAt() <= moment; await rest()) {
        clock.now = Math.max(clock(), timeline.nextAt());
        for (const { at, end } of [...waiters]) if (at <= clock()) end();
      }
      clock.now = Math.max(clock(), moment);
    },

    /** Moves the clock by a number of milliseconds. */
    pass: (milliseconds: number): Promise<void> => timeline.until(clock() + milliseconds),

    /** Moves the clock from pause to pause until a promise is settled, and returns its result. */
    async finish<Result>(work: Promise<Result>): Promise<Result> {
      let ended = false;
      const end = () => {
        ended = true;
      };
      work.then(end, end);
      for (await rest(); !ended; await rest()) {
        if (waiters.size === 0) throw new Error('There is no pause to end, and the operation has not ended.');
        await timeline.until(timeline.nextAt());
      }
      return work;
    },
  };
  return timeline;
}
