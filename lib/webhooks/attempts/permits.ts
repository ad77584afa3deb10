import type { Context } from '../../context/context.ts';
import type { DeliveryMessage } from '../../names/messages.ts';
import { clocksDifferMs } from '../../table/access/clocks.ts';
import { takePermits } from '../../table/webhooks/webhook-attempts.ts';
import type { Target } from '../../table/webhooks/webhooks.ts';
import { hasBooking } from './bookings.ts';
import { requestTime } from './time-requests.ts';

/**
 * An attempt to a webhook with a maximum of attempts in a second needs a permit: a time from which on its request may begin,
 * for `usableMs`. The item of the webhook has the end of all permits that are given out. One write moves it on, and takes a
 * block of permits, for all attempts of the webhook that a process prepares in one turn of the event loop.
 *
 * As many permits as the maximum take a second and `usableMs`. So each request begins a second or more after the request that is
 * as many permits before it, whichever workers make the two, and however late within its permit each begins. A permit that is not
 * used is lost.
 */

/** How long the request of a permit may begin, in milliseconds. */
const usableMs = 75;

/** The time that as many permits as the maximum of a second take, in milliseconds. */
const pacedMs = 1_000 + usableMs;

/**
 * How far ahead the first permit of a block may be, in milliseconds: the attempts wait for their permits in the process.
 * Attempts that have booked a time may come after others, which must not send them to the end of the queue.
 */
const aheadMs = { new: 1_000, booked: 2_000 };

/** How far ahead permits can end at most, in milliseconds. A block takes no longer than the permits of a second. */
const longestMs = aheadMs.booked + pacedMs;

/** How many permits an attempt may miss at the same time. Then it waits like one for which there is no permit soon. */
export const permitsOfAttempt = 5;

/** How many pauses the wait for a permit takes at most. A timer may fire a little early. */
const pausesOfPermit = 3;

/** How long what was read for an attempt counts while it waits for a permit, in milliseconds. */
const freshMs = 10;

/** An attempt to a webhook with a maximum of attempts in a second. */
export type PacedAttempt = { message: DeliveryMessage; target: Target & { maxPerSecond: number } };

/** Returns whether an attempt needs a permit. */
export const needsPermit = <Attempt extends { target: Target }>(
  attempt: Attempt,
): attempt is Attempt & { target: PacedAttempt['target'] } => attempt.target.maxPerSecond !== undefined;

/**
 * Takes the next permit for an attempt, if it comes soon.
 *
 * @returns its time (Unix time, in ms, with a fraction); `undefined` if there is none soon, or the webhook is deleted or has
 *   another maximum by now
 */
export function takePermit(
  context: Pick<Context, 'table' | 'clock' | 'timeRequests'>,
  { message, target }: PacedAttempt,
): Promise<number | undefined> {
  const { organization, webhookId } = message;
  const { maxPerSecond } = target;
  const from = hasBooking(message, target) ? 'booked' : 'new';
  return requestTime(context, `permits ${organization} ${webhookId} ${maxPerSecond} ${from}`, target, {
    most: maxPerSecond,
    take: (count, targets, last) => {
      const read = targets.map(({ permittedUntil = 0 }) => permittedUntil);
      const end = last === undefined ? Math.max(...read) : Math.floor((last + pacedMs / maxPerSecond) * 1_000);
      return takePermits(context, organization, webhookId, {
        count,
        maxPerSecond,
        pacedMs,
        now: context.clock(),
        aheadMs: aheadMs[from],
        longestMs,
        permittedUntil: end,
        unusedLeases: targets[0] && unusedLeasesOf(targets[0], context.clock()),
      });
    },
  });
}

/**
 * Returns the numbers of the leases of a webhook that have expired long ago. Versions up to 0.2.0 left one for each attempt in a second,
 * which would make each write of the webhook larger.
 */
function unusedLeasesOf({ slowLeases }: Target, now: number): number[] {
  const leases = Object.entries(slowLeases).filter(([, until]) => Date.parse(until) < now - clocksDifferMs);
  return leases.map(([number]) => Number(number));
}

/**
 * Waits for the time of a permit, unless the clock is set back in the meantime.
 *
 * @returns whether it has waited for so long that what was read before may have changed
 */
export async function waitForPermit({ clock, pause }: Pick<Context, 'clock' | 'pause'>, at: number): Promise<boolean> {
  const before = clock();
  for (let pauses = 0; pauses < pausesOfPermit; pauses++) {
    const remainingMs = Math.ceil(at - clock());
    if (remainingMs <= 0 || remainingMs > longestMs) break;
    await pause(remainingMs, new AbortController().signal);
  }
  return Math.abs(clock() - before) > freshMs;
}

/** Returns whether a request that begins at a time (Unix time, in ms) is in the time of a permit. */
export function isInPermit(sentAt: number, at: number): boolean {
  return sentAt >= at && sentAt <= at + usableMs;
}
