import type { Log } from '../../lib/context/log.ts';

/** How often the clock is compared with the monotonic one, in milliseconds. */
const everyMs = 1_000;

/** A longer step of the clock between two comparisons is logged, in milliseconds. */
const shortStepMs = 1_000;

/** The clocks that are compared; in milliseconds. */
type Clocks = { clock: () => number; monotonic: () => number };

/** The functions to call after a step of the clock, with its length: negative if the clock was set back; in milliseconds. */
export type StepListeners = Set<(stepMs: number) => void>;

/**
 * Watches the clock of the machine: logs each step of more than a second in one line, and calls the listeners. A machine
 * that slept looks like a clock that was set forward.
 *
 * @returns a function that stops watching
 */
export function watchClock(
  listeners: StepListeners,
  log: Pick<Log, 'warn'>,
  { clock, monotonic }: Clocks = { clock: Date.now, monotonic: () => performance.now() },
): () => void {
  const offset = () => clock() - monotonic();
  let known = offset();
  const timer = setInterval(() => {
    const current = offset();
    const stepMs = Math.round(current - known);
    known = current;
    if (Math.abs(stepMs) <= shortStepMs) return;
    const direction = stepMs < 0 ? 'back' : 'forward';
    const seconds = Math.round(Math.abs(stepMs) / 100) / 10;
    log.warn(`the clock was set ${direction} by ${seconds} s`, { stepMs });
    for (const listener of listeners) listener(stepMs);
  }, everyMs).unref();
  return () => clearInterval(timer);
}
