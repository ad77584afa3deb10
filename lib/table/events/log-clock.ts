import { eventNames } from '../../contract/events.ts';
import { timeOf, ulidOf } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import type { BatchingContext } from '../batchers.ts';
import { clocksDifferMs } from '../clocks.ts';
import { readSubscribers } from '../deliveries/subscriptions.ts';
import { keys } from '../keys.ts';
import { queryItems } from '../reads.ts';
import { firstUlid, lastUlid, maxTime } from './positions.ts';

/**
 * The clock of the event log in this process. It is the clock of the machine until that is set back. Then it
 * continues, at half the speed, until the other has caught up. So the positions of a log never go back.
 *
 * A process that owns its logs, as on one machine, is the only one that publishes events and serves followers. At the first
 * use of a log it also continues after the newest position, which a clock that was ahead may have set.
 */
export type LogClock = {
  /** The time of the log and of the clock when they were last read (Unix times, in ms), and the monotonic time of that. */
  time: number;
  clockTime: number;
  readAt: number;
  /** The clock and the monotonic time at the start of the process. */
  started: Pick<StepBack, 'clockTime' | 'at'>;
  /** The latest step back, which may have been before the start; absent without one. */
  step?: StepBack;
  /** The logs that this process has used, with their greatest position, which is a ULID. Only of a process that owns them. */
  logs: Map<Organization, Promise<{ newest: string }>>;
};

/**
 * A step back of the clock: the times of the log and of the clock after it, the monotonic time of that, and the time of the
 * log before it. Milliseconds, Unix times except for `at`.
 */
type StepBack = { logTime: number; clockTime: number; at: number; from: number };

/** The part of a context that the clock of the log needs. */
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
const slowedTo = 1 / 2;

/** The maximum number of logs in `logs`; beyond them it starts empty. */
const logsAtMost = 1_000;

/** Creates the clock of the log of a process that starts now. */
export function createLogClock(clock: () => number, monotonic: () => number): LogClock {
  const [at, clockTime] = [monotonic(), clock()];
  return { time: clockTime, clockTime, readAt: at, started: { clockTime, at }, logs: new Map() };
}

/** Returns the time of the log, which never goes back (Unix time, in ms). */
export function logTime({ clock, monotonic, logClock }: Omit<LogClockContext, keyof BatchingContext>): number {
  const at = monotonic();
  const now = clock();
  const elapsedMs = Math.max(0, at - logClock.readAt);
  const { step } = logClock;
  const continued = step ? step.logTime + Math.max(0, at - step.at) * slowedTo : 0;
  const isStep = logClock.clockTime + elapsedMs - now > shortStepMs;
  if (isStep) {
    const time = Math.floor(Math.max(logClock.time, step ? continued : logClock.clockTime + elapsedMs));
    logClock.step = { logTime: time, clockTime: now, at, from: logClock.time };
    logClock.time = Math.max(time, now);
  } else logClock.time = Math.max(logClock.time, Math.floor(continued), now);
  logClock.clockTime = now;
  logClock.readAt = at;
  return logClock.time;
}

/** Returns whether the clock is so far behind that of the log that it was set back. */
export function isBehindLog(context: Omit<LogClockContext, keyof BatchingContext>): boolean {
  return logTime(context) > context.clock() + clocksDifferMs;
}

/**
 * Returns the time by which followers read the log: in a process that does not own its logs, that of the clock. The clock of
 * the log in another process may be behind the one here, and followers must not pass it.
 */
export function followTime(context: Omit<LogClockContext, keyof BatchingContext>): number {
  return context.ownsLogs ? logTime(context) : context.clock();
}

/**
 * Returns the time of a change by the clock of the log. It differs from the time stamp of the change after a step back: then
 * a change has an earlier time stamp than one that was made before it.
 *
 * @param changedAt the time stamp of the change (Unix time, in ms)
 */
export function logTimeOf(context: Omit<LogClockContext, keyof BatchingContext>, changedAt: number): number {
  const latest = logTime(context);
  const { step, clockTime } = context.logClock;
  // A change with a time stamp of the future was made before the step.
  if (!step || changedAt > clockTime) return changedAt;
  const sinceStep = changedAt - step.clockTime;
  const time = Math.floor(step.logTime + sinceStep * (sinceStep > 0 ? slowedTo : 1));
  return time < step.from ? changedAt : Math.max(changedAt, Math.min(time, latest));
}

/**
 * Prepares the use of an organization's log. A process that owns its logs reads the newest times of a log once: of its
 * positions, and of the subscriptions to its events. The clock of the log continues after them.
 *
 * @returns the greatest position of the log, unless other processes write it too
 */
export async function openLog(
  context: LogClockContext,
  organization: Organization,
): Promise<{ newest: string } | undefined> {
  const { ownsLogs, logClock } = context;
  if (!ownsLogs) return undefined;
  const { logs } = logClock;
  const known = logs.get(organization);
  if (known) return known;
  if (logs.size >= logsAtMost) logs.clear();
  const opening = readNewest(context, organization).then(({ newest, time }) => {
    continueAfter(context, time);
    return { newest };
  });
  logs.set(organization, opening);
  opening.catch(() => logs.delete(organization));
  return opening;
}

/** Notes a position that the log of an organization has from now on. */
export async function notePosition(
  { logClock }: Pick<LogClockContext, 'logClock'>,
  organization: Organization,
  position: string,
): Promise<void> {
  const log = await logClock.logs.get(organization);
  if (log && log.newest < position) log.newest = position;
}

/** Returns the newest position of a log, and the newest time of its positions and subscriptions. */
async function readNewest(
  context: BatchingContext,
  organization: Organization,
): Promise<{ newest: string; time: number }> {
  const { table } = context;
  const log = keys.events(organization);
  const late = keys.lateEvents(organization, '');
  const [[event], [lateEvents], ...subscribers] = await Promise.all([
    Array.fromAsync(queryItems(table, { pk: log, to: lastUlid(maxTime), limit: 1 })),
    Array.fromAsync(queryItems(table, { pk: log, from: late.sk, limit: 1 })),
    ...eventNames.map((name) => readSubscribers(context, organization, name)),
  ]);
  const positions = [event, lateEvents].flatMap((item) => (item ? [ulidOf(item.sk as string)] : []));
  const newest = positions.toSorted().at(-1) ?? firstUlid(0);
  return { newest, time: Math.max(0, ...positions.map(timeOf), ...subscribers.flat().map(({ since }) => since)) };
}

/**
 * Lets the clock of the log continue after a time, if it has not passed that: the clock was set back before the start of the
 * process, or before the latest step. So changes since then are after that time, too.
 */
function continueAfter(context: LogClockContext, time: number): void {
  const { logClock } = context;
  if (logTime(context) > time) return;
  const { clockTime, at } = logClock.step ?? logClock.started;
  logClock.step = { logTime: time + 1, clockTime, at, from: time };
}
