import type { Organization } from '../../contract/organization.ts';
import type { BatchingContext } from '../access/batchers.ts';
import { clocksDifferMs } from '../access/clocks.ts';

/**
 * The clock of the event log in this process. It is the clock of the machine until that is set back. Then it
 * continues, at half the speed, until the other has caught up. So the positions of a log never go back.
 *
 * A process that owns its logs, as on one machine, is the only one that publishes events and serves followers. It stores the
 * steps of the clock, so that the next process knows them. At the first use of a log it also continues after the newest time
 * in it, which a clock that was ahead may have set.
 */
export type LogClock = {
  /** The time of the log and of the clock when they were last read (Unix times, in ms), and the monotonic time of that. */
  time: number;
  clockTime: number;
  readAt: number;
  /** The stretch that has begun last, and the monotonic time of its beginning. */
  stretch: Stretch;
  begunAt: number;
  /** The greatest time that the clock has shown since then (Unix time, in ms). A short step begins no stretch. */
  shown: number;
  /** The stretches before, newest first, and the latest one that another process has stored. */
  earlier: readonly Stretch[];
  loaded?: Stretch | undefined;
  /** The clock at the start of the process (Unix time, in ms). */
  startedAt: number;
  /** The time of the log at which the process has continued it, if the clock was set back before the start (Unix time, in ms). */
  continuedAt?: number;
  /** The reading of the stretches that another process has stored. Only of a process that owns its logs. */
  loading?: Promise<void>;
  /** The stretch that was stored last, or at the start the stretch that needs no storing, and the end of the write. */
  stored: { stretch: Stretch | undefined; written: Promise<void> };
  /** The logs that this process has used, with their greatest position, which is a ULID. Only of a process that owns them. */
  logs: Map<Organization, Promise<{ newest: string }>>;
};

/**
 * A stretch of time in which the clock was not set: the times of the log and of the clock when it began, and the last time of
 * the log that is known from before (Unix times, in ms).
 */
export type Stretch = { logTime: number; clockTime: number; from: number };

export type LogClockContext = BatchingContext & {
  clock: () => number;
  /** Milliseconds since a fixed moment. It cannot be set. */
  monotonic: () => number;
  /** Whether this is the only process that publishes events and serves followers. */
  ownsLogs: boolean;
  logClock: LogClock;
};

/** A step that is not longer only stops the clock of the log until the other has caught up; in milliseconds. */
const shortStepMs = 100;

/** The speed of the clock of the log after a step back. */
export const slowedTo = 1 / 2;

/**
 * The maximum number of stretches before the latest one: at most 80 KB of an item. Changes are published within seconds. But a
 * service that is killed every few seconds beside a long backlog handles the earlier changes first, so minutes and hundreds of
 * stretches can pass. A change of a stretch that is not known any more would be given a time that can lie in a pause.
 */
export const earlierAtMost = 1_000;

/** Creates the clock of the log of a process that starts now. */
export function createLogClock(clock: () => number, monotonic: () => number): LogClock {
  const [at, now] = [monotonic(), clock()];
  const stretch = { logTime: now, clockTime: now, from: now };
  const read = { time: now, clockTime: now, readAt: at };
  const stored = { stretch, written: Promise.resolve() };
  return { ...read, stretch, begunAt: at, shown: now, earlier: [], startedAt: now, stored, logs: new Map() };
}

/** Returns the time of the log, which never goes back (Unix time, in ms). */
export function logTime({
  clock,
  monotonic,
  logClock,
}: Omit<LogClockContext, keyof BatchingContext | 'ownsLogs'>): number {
  const at = monotonic();
  const now = clock();
  const { time, stretch } = logClock;
  const expected = logClock.clockTime + Math.max(0, at - logClock.readAt);
  const continued = Math.floor(stretch.logTime + Math.max(0, at - logClock.begunAt) * slowedTo);
  const stepMs = now - expected;
  // A step forward matters only while the clock is behind the log.
  if (stepMs < -shortStepMs || (stepMs > shortStepMs && continued > expected)) {
    const begins = Math.max(time, continued, Math.floor(expected), now);
    logClock.earlier = [stretch, ...logClock.earlier].slice(0, earlierAtMost);
    logClock.stretch = { logTime: begins, clockTime: now, from: time };
    logClock.begunAt = at;
    logClock.shown = now;
    logClock.time = begins;
  } else logClock.time = Math.max(time, continued, now);
  logClock.shown = Math.max(logClock.shown, now);
  logClock.clockTime = now;
  logClock.readAt = at;
  return logClock.time;
}

/**
 * Returns the clock for the time stamps of a process that owns its logs: each reading also notes a step. Otherwise two steps
 * could follow each other before the log is used, and a time stamp from between them would belong to no known stretch.
 */
export function createStampClock(clocks: Omit<LogClockContext, keyof BatchingContext | 'ownsLogs'>): () => number {
  return () => {
    logTime(clocks);
    return clocks.logClock.clockTime;
  };
}

/** Returns whether the clock is so far behind the clock of the log that it was set back. */
export function isBehindLog(context: Omit<LogClockContext, keyof BatchingContext>): boolean {
  return logTime(context) > context.clock() + clocksDifferMs;
}

/**
 * Returns the time by which followers read the log: in a process that does not own its logs, the time of the clock. The clock of
 * the log in another process may be behind the one here, and followers must not pass it.
 */
export function followTime(context: Omit<LogClockContext, keyof BatchingContext>): number {
  return context.ownsLogs ? logTime(context) : context.clock();
}

/** Returns whether times of the log can differ from time stamps: the clock was set back, as far as this process knows. */
export function wasSetBack({ logClock: { stretch, earlier } }: Pick<LogClockContext, 'logClock'>): boolean {
  return stretch.logTime > stretch.clockTime || earlier.length > 0;
}
