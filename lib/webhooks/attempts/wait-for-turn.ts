import type { Context } from '../../context/context.ts';
import { timestamp, ulidOf } from '../../contract/ids.ts';
import type { DeliveryMessage } from '../../names/messages.ts';
import { readInBatch } from '../../table/access/batchers.ts';
import { isTooFarAhead } from '../../table/access/clocks.ts';
import { keys } from '../../table/access/keys.ts';
import { lateAfterMs, maxAttemptMs, unlistParked } from '../../table/deliveries/attempt-log.ts';
import {
  type Booking,
  parkedMessage,
  readParkedAttempt,
  storeBooking,
} from '../../table/deliveries/parked-attempts.ts';
import { graceMs } from '../../table/lists/due.ts';
import { bookTimes, endTimesAhead } from '../../table/webhooks/webhook-attempts.ts';
import type { Target } from '../../table/webhooks/webhooks.ts';
import {
  bookedLateMs,
  earlyMs,
  hasBooking,
  isBooked,
  isBookedLate,
  minDelayMs,
  waitsAsMessageMs,
  withoutBooking,
} from './bookings.ts';
import type { AttemptToMake, Decision } from './decide-attempt.ts';
import { requestTime } from './time-requests.ts';

/** The time in which as many attempts are booked as may begin in a second, in milliseconds: a little more than their permits take. */
const bookedMs = 1_080;

/** How long a worker takes at most from its look at an attempt to the beginning of the request, in milliseconds. */
const preparedMs = 3_000;

/** How far ahead a time can be booked without an item of the attempt, in milliseconds. Only an item is found when its webhook changes. */
const booksAsMessageMs = 5_000;

/**
 * Returns when the message of an attempt for which there is no permit soon is received again: just before its booked time. It keeps
 * that time if it still has to come, and books one otherwise. If it cannot book, it is received again in a second, and the worker
 * decides anew: the webhook was deleted, paused or changed in the meantime, another worker was first, or a clock that was ahead has
 * booked.
 */
export async function waitForTurn(
  context: Context,
  { message, target }: Pick<AttemptToMake, 'message' | 'target'>,
): Promise<Decision> {
  const { organization, webhookId } = message;
  const now = context.clock();
  const again = (next: DeliveryMessage, notBefore: number): Decision => ({
    kind: 'sendAgain',
    message: next,
    notBefore,
  });
  if (isTooFarAhead(target.latestBookingAt ?? 0, now, 0)) {
    await endTimesAhead(context, organization, webhookId);
    return again(withoutBooking(message), now + minDelayMs);
  }
  const isWaiting = hasBooking(message, target) && isBooked(message, target, now);
  const next = isWaiting ? message : await bookTime(context, message, target);
  return again(next, hasBooking(next, target) ? Date.parse(next.bookedAt) - earlyMs : now + minDelayMs);
}

/**
 * Books a time for an attempt. If the attempt waits for long, the time is stored in the item of the attempt, which then lists it for
 * the sweeper instead of any other item. All copies of the message use that time.
 *
 * The pace may change between these steps, and the release of the waiting attempts may not find this one. So the webhook is
 * read again at the end.
 *
 * @returns the message with the booked time; without one if it could book none
 */
async function bookTime(context: Context, message: DeliveryMessage, target: Target): Promise<DeliveryMessage> {
  const { organization, webhookId, dueAt } = message;
  const { maxPerSecond = 1, paceVersion } = target;
  const parkedBefore = await readParkedAttempt(context, message);
  // The end of the pause that has parked it is not carried out yet, and sends it. A time that is booked now would be lost.
  if (parkedBefore?.pausedFrom !== undefined && !parkedBefore.listed) return withoutBooking(message);
  const stored = parkedBefore?.message;
  const now = context.clock();
  if (stored && hasBooking(stored, target) && isBooked(stored, target, now))
    return { ...message, ...bookingOf(stored.bookedAt, paceVersion), parked: true };
  const next = await requestTime(context, `bookings ${organization} ${webhookId} ${paceVersion}`, target, {
    take: (count, targets) => {
      const permittedMs = Math.max(...targets.map(({ permittedUntil = 0 }) => permittedUntil)) / 1_000;
      const isOfClockAhead = isTooFarAhead(permittedMs, now, 0);
      return bookTimes(context, organization, webhookId, {
        count,
        earliest: Math.max(now + minDelayMs, isOfClockAhead ? 0 : Math.ceil(permittedMs)),
        gapMs: bookedMs / maxPerSecond,
        paceVersion,
        bookedUntil: Math.max(...targets.map(({ bookedUntil = 0 }) => bookedUntil)),
      });
    },
  });
  if (next === undefined) return withoutBooking(message);
  const turn = isBookedLate(message, target) ? next : timeOfTurn(message, next, now);
  const booked = { ...message, ...bookingOf(timestamp(turn), paceVersion) };
  if (turn < Math.min(now + booksAsMessageMs, Date.parse(dueAt) + waitsAsMessageMs)) return booked;
  const times = { listedFrom: timestamp(turn + graceMs), overUntil: timestamp(now + earlyMs) };
  if (!(await storeBooking(context, booked, times))) return withoutBooking(message);
  const webhook = await readInBatch(context, keys.webhook(organization, ulidOf(webhookId)));
  const parked = parkedMessage(booked);
  if (!webhook || webhook.paceVersion !== paceVersion) return withoutBooking(parked);
  await unlistParked(context, message);
  return parked;
}

/**
 * Returns the time at which an attempt has its turn (Unix time, in ms), instead of one at which it would have to wait because it has
 * just become late: a worker that has a copy of its message, and does not know of the booking, may be making it in time for a while.
 */
function timeOfTurn({ dueAt }: DeliveryMessage, time: number, now: number): number {
  const lateFrom = Date.parse(dueAt) + lateAfterMs;
  if (time < lateFrom - preparedMs || time >= lateFrom + maxAttemptMs) return time;
  const first = Math.max(time, Date.parse(dueAt) + bookedLateMs);
  return first < now + maxAttemptMs + preparedMs ? lateFrom + maxAttemptMs : first;
}

const bookingOf = (bookedAt: string, paceVersion: number | undefined): Booking => ({
  bookedAt,
  ...(paceVersion !== undefined && { paceVersion }),
});
