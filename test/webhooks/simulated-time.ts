import { setImmediate as macrotask } from 'node:timers/promises';
import type { Alarm } from '../../lib/webhooks/alarm.ts';

/** Time that passes only from one thing that waits for it to the next: what is done in between takes none. */
export type SimulatedTime = ReturnType<typeof simulateTime>;

/**
 * Creates a simulated time. All that runs in it may wait by `sleep` and `alarm` and for each other, but for no file and no
 * socket.
 *
 * @param start milliseconds since 1970
 */
export function simulateTime(start: number) {
  let now = start;
  const waiting = new Map<number, Set<() => void>>();
  /** The moments that something waits for, the last one first. */
  const moments: number[] = [];

  const alarm: Alarm = (ring, afterMs) => {
    const at = now + Math.max(0, afterMs);
    const rings = waiting.get(at) ?? new Set();
    if (!waiting.has(at)) moments.splice(placeOf(at, moments), 0, at);
    waiting.set(at, rings.add(ring));
    return () => rings.delete(ring);
  };

  return {
    clock: () => now,
    alarm,
    sleep: (milliseconds: number) => new Promise<void>((resolve) => alarm(resolve, milliseconds)),

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
        // One that is stopped by another of the same moment does not ring.
        const rings = waiting.get(at) ?? [];
        waiting.delete(at);
        for (const ring of rings) ring();
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
