import { setImmediate as macrotask } from 'node:timers/promises';
import type { StartTimer } from '../../../lib/webhooks/sender/timer.ts';

/** Time that passes only from one thing that waits for it to the next: what is done in between takes none. */
export type SimulatedTime = ReturnType<typeof simulateTime>;

/**
 * Creates a simulated time. Code that runs in it may wait by `sleep` and `startTimer` and for other such code, but for no file and no
 * socket.
 *
 * @param start milliseconds since 1970
 */
export function simulateTime(start: number) {
  let now = start;
  const waiting = new Map<number, Set<() => void>>();
  /** The moments that something waits for, the last one first. */
  const moments: number[] = [];

  const startTimer: StartTimer = (callback, afterMs) => {
    const at = now + Math.max(0, afterMs);
    const callbacks = waiting.get(at) ?? new Set();
    if (!waiting.has(at)) moments.splice(placeOf(at, moments), 0, at);
    waiting.set(at, callbacks.add(callback));
    return () => callbacks.delete(callback);
  };

  return {
    clock: () => now,
    startTimer,
    sleep: (milliseconds: number) => new Promise<void>((resolve) => startTimer(resolve, milliseconds)),

    /** Lets time pass up to a moment. */
    async passUntil(end: number): Promise<void> {
      for (;;) {
        // All promises that can be settled by now are, before time goes on; also those of batches, which are handed over in
        // the next turn of the event loop.
        await macrotask();
        await macrotask();
        const at = moments.at(-1);
        if (at === undefined || at > end) break;
        moments.pop();
        now = at;
        // A timer that another one of the same moment stops does not fire.
        const callbacks = waiting.get(at) ?? [];
        waiting.delete(at);
        for (const callback of callbacks) callback();
      }
      now = end;
    },
  };
}

/** Where a number belongs among others that fall. */
function placeOf(number: number, falling: readonly number[]): number {
  let [low, high] = [0, falling.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((falling[middle] as number) > number) low = middle + 1;
    else high = middle;
  }
  return low;
}
