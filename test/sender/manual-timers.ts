import type { StartTimer } from '../../lib/sender/timer.ts';

/** A timer that was started: its milliseconds, and whether it was stopped. `fire` calls its function. */
type ManualTimer = { afterMs: number; stopped: boolean; fire: () => void };

export function createManualTimers() {
  const timers: ManualTimer[] = [];
  const startTimer: StartTimer = (callback, afterMs) => {
    const timer = { afterMs, stopped: false, fire: callback };
    timers.push(timer);
    return () => {
      timer.stopped = true;
    };
  };
  return { startTimer, timers };
}
