import { setImmediate as macrotask } from 'node:timers/promises';
import type { StartTimer } from '../../../lib/webhooks/sender/timer.ts';

/** Time that passes only from one wait to the next: work in between takes none. */
export type SimulatedTime = ReturnType<typeof simulateTime>;

/** Creates a simulated time, from a Unix time in ms. Code in it waits by `sleep` and `startTimer`, and for no I/O. */
export function simulateTime(start: number) {
  let now = start;
  const waiting = new Map<number, Set<() => void>>();

  const startTimer: StartTimer = (callback, afterMs) => {
    const at = now + Math.max(0, afterMs);
    const callbacks = waiting.get(at) ?? new Set();
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
        // Promises settle before time goes on; batches are handed over in the next turn of the event loop.
        await macrotask();
        await macrotask();
        let at = Number.POSITIVE_INFINITY;
        for (const moment of waiting.keys()) at = Math.min(at, moment);
        if (at > end) break;
        now = at;
        const callbacks = waiting.get(at) ?? [];
        waiting.delete(at);
        for (const callback of callbacks) callback();
      }
      now = end;
    },
  };
}
