import { openSync, writeSync } from 'node:fs';

/** A change of the clock of the service: when it happened, and how far the clock has been ahead since; in milliseconds. */
export type ClockStep = { at: number; aheadMs: number };

/** The clock of the service, which a soak can set. All times are Unix times in ms; the times of the soak are the true ones. */
export type ServiceClock = {
  /** The steps, from the start of the soak. */
  steps: readonly ClockStep[];
  /** Sets the clock forward, or back by a negative number of milliseconds. */
  step: (byMs: number) => void;
  /** Sets the clock right. */
  relent: () => void;
  /** What the service is started with. A restarted service has the clock as it is. */
  nodeOptions: string[];
  environment: { SOAK_CLOCK: string };
};

/** Creates the clock of the service in a file, which the service reads at each look at its clock (stepped-clock.ts). */
export function createServiceClock(path: string): ServiceClock {
  const file = openSync(path, 'w');
  const steps: ClockStep[] = [];
  const set = (aheadMs: number) => {
    // The time first: no time stamp of the new clock is from before its step.
    steps.push({ at: Date.now(), aheadMs });
    writeSync(file, new Float64Array([aheadMs]), 0, Float64Array.BYTES_PER_ELEMENT, 0);
  };
  set(0);
  const aheadMs = () => (steps.at(-1) as ClockStep).aheadMs;
  return {
    steps,
    step: (byMs) => set(aheadMs() + byMs),
    relent: () => {
      if (aheadMs() !== 0) set(0);
    },
    nodeOptions: ['--import', new URL('./stepped-clock.ts', import.meta.url).href],
    environment: { SOAK_CLOCK: path },
  };
}

/** How inexact the times of steps are, in milliseconds: they are whole, and the service reads the file a moment later. */
const inexactMs = 5;

/**
 * Returns the true times that a time stamp of the service can have, oldest first. After a step back there are two: the clock
 * shows a time again. There is none from before the first step, when the service did not run, and none of the future.
 */
export function trueTimesOf(stamp: number, steps: readonly ClockStep[], now = Date.now()): number[] {
  return steps.flatMap(({ at, aheadMs }, nth) => {
    const time = stamp - aheadMs;
    const end = steps[nth + 1]?.at ?? now;
    return time >= at - inexactMs && time <= end + inexactMs ? [time] : [];
  });
}

/** Returns the true time of a time stamp of the service that was read a moment later. */
export function trueTimeOf(stamp: number, steps: readonly ClockStep[], readAt: number): number {
  const times = trueTimesOf(stamp, steps).filter((time) => time <= readAt + inexactMs);
  return times.at(-1) ?? readAt;
}

/** Returns whether the clock has stepped between two true times. */
export function hasStepped(steps: readonly ClockStep[], from: number, to: number): boolean {
  return steps.slice(1).some(({ at }) => at >= from - inexactMs && at <= to + inexactMs);
}
