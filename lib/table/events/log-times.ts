import { setBounded } from '../../contract/bounded-map.ts';
import { timeOf, ulidOf } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import { eventNames } from '../../contract/webhooks/events.ts';
import type { BatchingContext } from '../access/batchers.ts';
import { isTooFarAhead } from '../access/clocks.ts';
import { keys } from '../access/keys.ts';
import { getItem, readRange } from '../access/reads.ts';
import { transact } from '../access/transact.ts';
import { readSubscribers } from '../webhooks/subscriptions.ts';
import { readWebhooks } from '../webhooks/webhooks.ts';
import { eventFrom, subscribedTimeOf } from './event-log.ts';
import { earlierAtMost, type LogClockContext, logTime, type Stretch, slowedTo } from './log-clock.ts';
import { firstUlid, lastUlid, maxTime, writtenWithinMs } from './positions.ts';

/** The maximum number of logs in `logs`; beyond them it starts empty. */
const logsAtMost = 1_000;

/**
 * Returns the time of a change by the clock of the log. It differs from the time stamp of the change after a step back: then
 * a change has an earlier time stamp than one that was made before it. A process that owns its logs has stored the steps that
 * decide it, so another process gets the same time.
 *
 * @param changedAt the time stamp of the change (Unix time, in ms)
 */
export async function logTimeOf(
  context: LogClockContext,
  organization: Organization,
  changedAt: number,
): Promise<number> {
  await openLog(context, organization);
  const time = timeInStretches(context, changedAt);
  await storeSteps(context);
  return time;
}

/** Returns the time of the log of a change, by the latest stretch to which its time stamp fits. */
function timeInStretches(context: Omit<LogClockContext, keyof BatchingContext>, changedAt: number): number {
  let until = logTime(context);
  const { stretch, earlier, loaded, shown, startedAt, continuedAt } = context.logClock;
  for (const one of [stretch, ...earlier]) {
    const sinceMs = changedAt - one.clockTime;
    const continued = Math.floor(one.logTime + sinceMs * (sinceMs > 0 ? slowedTo : 1));
    const time = Math.max(changedAt, Math.min(continued, until));
    // A time stamp of the future is from before the latest step.
    const isOver = one === stretch ? changedAt > shown : isTooFarAhead(continued, until, 0);
    const fits = time >= one.from && !isOver;
    // It is not known when the stretch of another process has ended.
    if (fits && one === loaded && time === changedAt) break;
    if (fits) return time;
    until = one.logTime;
  }
  // A change that is published only now is either one of the newest before the step, or from after a step that its process has
  // not noted, because it was killed before it used a log.
  const isAfterStep = changedAt < startedAt && continuedAt !== undefined && continuedAt - changedAt > writtenWithinMs;
  return isAfterStep ? continuedAt : changedAt;
}

/**
 * Prepares the use of an organization's log. A process that owns its logs reads the newest times of a log once: of its
 * positions, and of the subscriptions, filters and pauses of its webhooks. The clock of the log continues after them.
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
  const opening = Promise.all([readNewest(context, organization), loadStretches(context)]).then(([found]) => {
    continueAfter(context, Math.max(found.stamped, timeOf(found.newest)));
    // A position alone can be ahead of the clock, see `late-events.ts`.
    if (found.stamped > logClock.startedAt) logClock.continuedAt = logClock.stretch.logTime;
    return { newest: found.newest };
  });
  setBounded(logs, organization, opening, logsAtMost);
  opening.catch(() => logs.delete(organization));
  return opening;
}

/** Reads the stretches that a process before has stored, once. The clock of the log continues after the latest one. */
function loadStretches(context: LogClockContext): Promise<void> {
  const { table, logClock } = context;
  logClock.loading ??= getItem(table, keys.logClock()).then((item) => {
    const stored = (item?.stretches ?? []) as Stretch[];
    const [last] = stored;
    if (!last) return;
    const ranMs = Math.max(0, logClock.startedAt - last.clockTime);
    continueAfter(context, Math.floor(last.logTime + ranMs * slowedTo));
    logClock.loaded = last;
    logClock.earlier = [...logClock.earlier, ...stored].slice(0, earlierAtMost);
  });
  logClock.loading.catch(() => delete logClock.loading);
  return logClock.loading;
}

/**
 * Lets each change of a process that owns its logs wait until the steps of the clock before it are stored. If the process is
 * killed before it has published the change, the next one derives its time from them.
 */
export function storeStepsBeforeWrites(context: LogClockContext): void {
  context.table = { ...context.table, beforeWrite: () => storeSteps(context) };
}

/** Stores the steps of the clock that a process which owns its logs has not stored yet. */
async function storeSteps(context: LogClockContext): Promise<void> {
  const { ownsLogs, logClock } = context;
  if (!ownsLogs) return;
  logTime(context);
  const { stretch } = logClock;
  if (logClock.stored.stretch !== stretch) {
    const written = loadStretches(context).then(() => writeStretches(context));
    logClock.stored = { stretch, written };
    written.catch(() => {
      if (logClock.stored.written === written) logClock.stored.stretch = undefined;
    });
  }
  await logClock.stored.written;
}

async function writeStretches({ table: { beforeWrite, ...table }, logClock }: LogClockContext): Promise<void> {
  const { stretch, earlier } = logClock;
  const Item = { ...keys.logClock(), stretches: [stretch, ...earlier] };
  await transact(table, [{ Put: { Item } }]);
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

/** Returns the newest position of a log, and the newest time of its events and of the webhooks of its organization. */
async function readNewest(
  context: BatchingContext,
  organization: Organization,
): Promise<{ newest: string; stamped: number }> {
  const { table } = context;
  const log = keys.events(organization);
  const late = keys.lateEvents(organization, '');
  const [[event], [lateEvents], webhooks, ...subscribers] = await Promise.all([
    readRange(table, { pk: log, to: lastUlid(maxTime), limit: 1 }),
    readRange(table, { pk: log, from: late.sk, limit: 1 }),
    readWebhooks(context, organization),
    ...eventNames.map((name) => readSubscribers(context, organization, name)),
  ]);
  const positions = [event, lateEvents].flatMap((item) => (item ? [ulidOf(item.sk as string)] : []));
  const changes = webhooks.flatMap(({ pauses = [], taskFilters = [] }) => [
    ...pauses.flatMap(({ from, until = from }) => [from, until]),
    ...taskFilters.map(({ from }) => from),
  ]);
  const times = [
    ...(event ? [subscribedTimeOf(eventFrom(event))] : []),
    ...subscribers.flat().map(({ since }) => since),
    ...changes.map((change) => Date.parse(change)),
  ];
  return { newest: positions.toSorted().at(-1) ?? firstUlid(0), stamped: Math.max(0, ...times) };
}

/**
 * Lets the clock of the log continue after a time, if it has not passed that: the clock was set back before the start of the
 * process, or before the latest step. So changes since then are after that time, too, and so are the changes of all
 * stretches of this process.
 */
function continueAfter(context: LogClockContext, time: number): void {
  const { logClock } = context;
  if (logTime(context) > time) return;
  const { stretch, earlier, loaded } = logClock;
  const continued = (one: Stretch): Stretch => ({ ...one, logTime: time + 1, from: time });
  const own = loaded && earlier.includes(loaded) ? earlier.indexOf(loaded) : earlier.length;
  logClock.stretch = continued(stretch);
  logClock.earlier = earlier.map((one, at) => (at < own && one.logTime <= time ? continued(one) : one));
}
