import { ApiError } from '../../contract/errors.ts';
import { timestamp } from '../../contract/ids.ts';
import { historyExpiry } from '../lists/history-days.ts';

/**
 * A time in which a webhook is paused, in ISO 8601. Without `until` it has not ended. The reason is absent if a caller paused
 * the webhook.
 */
export type Pause = { from: string; until?: string; reason?: 'failing' };

/** The part of a webhook's item that has its pauses, oldest first. A webhook that was never paused has none. */
export type Pausable = { pauses?: readonly Pause[] | undefined };

/**
 * The maximum number of pauses of a webhook that are stored. Each attempt reads them with the webhook; 50 of them take less
 * than one further read unit.
 */
export const maxPauses = 50;

/** Returns the pause that has not ended; `undefined` if the webhook is active. */
export function openPauseOf({ pauses }: Pausable): Pause | undefined {
  const last = pauses?.at(-1);
  return last?.until === undefined ? last : undefined;
}

/** Returns the error for a request that would send to a paused webhook. */
export function webhookPaused(): ApiError {
  return new ApiError('webhook_paused', 'The webhook is paused; resume it first, with active: true.');
}

/** Returns whether a webhook is paused now. */
export function isPaused(webhook: Pausable): boolean {
  return openPauseOf(webhook) !== undefined;
}

/**
 * Returns whether a time (Unix time, in ms) lies in a pause of a webhook, the start included and the end excluded. An event
 * of such a time is skipped: the webhook never receives its first attempt.
 */
export function isPausedAt({ pauses = [] }: Pausable, timeMs: number): boolean {
  return pauses.some(
    ({ from, until }) => Date.parse(from) <= timeMs && (until === undefined || timeMs < Date.parse(until)),
  );
}

/**
 * Returns the time since which a webhook is active (Unix time, in ms): the end of its last pause, 0 if it was never paused,
 * and infinity while it is paused.
 */
export function activeSince({ pauses }: Pausable): number {
  const last = pauses?.at(-1);
  if (last === undefined) return 0;
  return last.until === undefined ? Number.POSITIVE_INFINITY : Date.parse(last.until);
}

/** Returns the end of the last pause that has ended (Unix time, in ms); 0 if there is none. */
export function lastResume({ pauses = [] }: Pausable): number {
  return Math.max(0, ...pauses.flatMap(({ until }) => (until === undefined ? [] : [Date.parse(until)])));
}

/**
 * Returns the pauses of an active webhook with one that begins now. Pauses that ended before all stored events are left out.
 *
 * @param reason of a pause by the service, which is not limited: there is at most one in `failingAfterMs`
 * @throws `ApiError` `limit_reached`
 */
export function withPause({ pauses = [] }: Pausable, now: number, reason?: Pause['reason']): Pause[] {
  const kept = pauses.filter(({ until }) => until === undefined || historyExpiry(Date.parse(until)) * 1000 > now);
  if (kept.length >= maxPauses && !reason)
    throw new ApiError(
      'limit_reached',
      `A webhook can be paused ${maxPauses} times in 90 days; leave it active, or delete it.`,
    );
  // No two pauses begin at the same time, even if clocks differ: a parked attempt names its pause by the start.
  const lastEnd = kept.at(-1)?.until;
  const from = timestamp(lastEnd === undefined ? now : Math.max(now, Date.parse(lastEnd) + 1));
  return [...kept, { from, ...(reason && { reason }) }];
}

/** Returns the pauses of a paused webhook, of which the last one ends now. */
export function withoutPause({ pauses = [] }: Pausable, now: number): Pause[] {
  return pauses.map((pause, at) =>
    at === pauses.length - 1 ? { ...pause, until: timestamp(Math.max(now, Date.parse(pause.from))) } : pause,
  );
}
