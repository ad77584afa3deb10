import { type ClockStep, hasStepped, trueTimesOf } from '../clock/service-clock.ts';

/** A request: when it was first sent, and when it had its successful response (Unix times, in ms). */
export type Requested = { sentAt: number; answeredAt: number };

/** A pause of a webhook: the requests that began and ended it. */
export type PauseRequests = { from: Requested; until: Requested };

/** A change of the maximum rate of a webhook; `null` is no maximum. */
export type RateChange = Requested & { maxPerSecond: number | null };

/**
 * What must become of an event for a webhook. At the borders of a pause, while the request that begins or ends it runs,
 * both are right.
 */
export type Fate = 'delivered' | 'skipped' | 'either';

/**
 * Returns what must become of an event. The time of its change decides, whenever the event is published.
 *
 * @param occurredAt the time stamp of the change by the clock of the service (Unix time, in ms); `undefined` if it is unknown
 */
export function fateOf(
  occurredAt: number | undefined,
  pauses: readonly PauseRequests[],
  steps: readonly ClockStep[],
): Fate {
  if (pauses.length === 0) return 'delivered';
  const times = occurredAt === undefined ? [] : trueTimesOf(occurredAt, steps);
  const fates = new Set(times.map((time) => fateAt(time, pauses)));
  const [only] = fates;
  return only && fates.size === 1 ? only : 'either';
}

/** How inexact a true time is, in milliseconds. */
const inexactMs = 10;

function fateAt(time: number, pauses: readonly PauseRequests[]): Fate {
  const near = pauses.find(
    ({ from, until }) => time >= from.sentAt - inexactMs && time <= until.answeredAt + inexactMs,
  );
  if (!near) return 'delivered';
  return time > near.from.answeredAt + inexactMs && time < near.until.sentAt - inexactMs ? 'skipped' : 'either';
}

/** The attempts of a webhook that its receiver got: when each began, and the changes of the maximum rate. True times. */
export type Rated = { webhookId: string; begins: readonly number[]; rates: readonly RateChange[] };

/** For how long attempts that began before a change of the rate can follow it, in milliseconds (receiving-webhooks.md). */
const begunBeforeMs = 30_000;

const secondMs = 1_000;

/**
 * Returns the seconds in which more attempts to a webhook began than its maximum rate allowed. A second counts only if the
 * clock did not step in it, because the service can measure it only with its clock.
 */
export function exceededRates({ webhookId, begins, rates }: Rated, steps: readonly ClockStep[]): string[] {
  const sorted = begins.toSorted((a, b) => a - b);
  return sorted.flatMap((begin, nth) => {
    const most = mostIn(begin, rates);
    // The attempt that would be one too many.
    const next = sorted[nth + most];
    if (next === undefined || next >= begin + secondMs || hasStepped(steps, begin, begin + secondMs)) return [];
    const count = sorted.filter((time) => time >= begin && time < begin + secondMs).length;
    return [`${count} attempts to ${webhookId} began in the second from ${begin}, at most ${most} were allowed`];
  });
}

/** Returns the most attempts that may begin in the second from a time: the greatest rate that can hold for one of them. */
function mostIn(begin: number, rates: readonly RateChange[]): number {
  const [from, to] = [begin - begunBeforeMs, begin + secondMs];
  const held = [{ maxPerSecond: null, sentAt: Number.NEGATIVE_INFINITY }, ...rates].filter(({ sentAt }, nth) => {
    const endedAt = rates[nth]?.answeredAt ?? Number.POSITIVE_INFINITY;
    return sentAt < to && endedAt > from;
  });
  return Math.max(...held.map(({ maxPerSecond }) => maxPerSecond ?? Number.POSITIVE_INFINITY));
}
