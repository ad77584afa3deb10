import type { Context } from '../../context.ts';
import { timestamp } from '../../contract/ids.ts';
import type { DeliveryMessage } from '../../deployment/messages.ts';
import { longestDelaySeconds } from '../../deployment/queues.ts';
import { isTooFarAhead } from '../../table/clocks.ts';
import { unlistParked } from '../../table/deliveries/attempt-log.ts';
import { readParkedAttempt, storeWait } from '../../table/deliveries/parked-attempts.ts';
import { bookTime, hasBooking, hasMissedTime, receivedEarlyMs, withoutBooking } from './bookings.ts';
import type { AttemptToMake, Decision } from './decide-attempt.ts';
import { randomOf } from './derived-ids.ts';

/** The shortest delay after which a message is received again if no lease was free, in milliseconds. */
export const minDelayMs = 1_000;

/** The longest such delay, in milliseconds. */
const maxDelayMs = longestDelaySeconds * 1_000;

/**
 * How long after it was due, or after its booked time, an attempt can wait for a lease without an item that says so, in
 * milliseconds. It is shorter than the time after which the sweeper takes its message for lost, by as much as the queue may
 * delay the message.
 */
const waitsAsMessageMs = 30_000;

/** How long after the next try to get a lease the sweeper looks for the attempt, in milliseconds. */
const triesGraceMs = 10 * 60_000;

/**
 * Returns when an attempt that has found no free lease tries again. If its webhook has a maximum of attempts in a second, it
 * books a time, unless it has booked one that it has not missed. If it waits for long, it is parked.
 */
export async function waitForLease(
  context: Context,
  { message, target, loggedEvent }: AttemptToMake,
): Promise<Decision> {
  const { maxPerSecond } = target;
  const hasTime = hasBooking(message, target) && !hasMissedTime(message, target, context.clock());
  const ownBooking = hasTime ? message : withoutBooking(message);
  const books = maxPerSecond !== undefined && !hasTime;
  const waiting = books ? await bookTime(context, ownBooking, maxPerSecond, target) : ownBooking;
  const notBefore = nextTryOf({ message: waiting, target, loggedEvent }, context.clock());
  const isWaiting = maxPerSecond === undefined || hasBooking(waiting, target);
  return {
    kind: 'sendAgain',
    message: isWaiting ? await parkWaiting(context, waiting, notBefore) : waiting,
    notBefore,
  };
}

/**
 * Returns when the message of an attempt that has no lease is received again (Unix times, in ms): just before its booked
 * time, or after an eighth to a quarter of the time since it was due. If its booked time is over, it has its turn, and waits
 * for a second, unless the receiver is also slow. So does an attempt that could book no time. After a step of the clock, the
 * time of its event in the log says how long a first attempt can have waited at most.
 */
function nextTryOf({ message, target, loggedEvent: { logTime = 0 } }: AttemptToMake, now: number): number {
  if (target.maxPerSecond === undefined) {
    const waitingSince = Math.max(Date.parse(message.dueAt), logTime);
    return now + delayMs(now - waitingSince, slowPartOf(message));
  }
  if (!hasBooking(message, target)) return now + minDelayMs;
  const bookedAt = Date.parse(message.bookedAt);
  if (bookedAt > now) return bookedAt - receivedEarlyMs;
  return now + (target.slow ? delayMs(now - bookedAt, slowPartOf(message)) : minDelayMs);
}

/** Returns the delay of an attempt that finds no free lease, as a part of the time for which it has waited, in ms. */
const delayMs = (waitedMs: number, part: number) => Math.min(maxDelayMs, Math.max(minDelayMs, waitedMs / part));

/**
 * Returns the part of the time since it was due after which an attempt tries again, from 4 to 8. Attempts that were due at the
 * same time have different ones. Otherwise all of a backlog would try at the same moments, and the leases would be free most
 * of the time between them.
 */
const slowPartOf = ({ deliveryId }: DeliveryMessage) => 4 + (4 * randomOf(deliveryId)) / 36 ** 4;

/**
 * Parks an attempt that has waited for a lease for long, so that its message is not the only thing that leads to it, or its
 * item is not due while it waits. Its item is due some time after the next try, instead of any other item that lists the
 * attempt. Later tries write only if they come after that time.
 *
 * @param notBefore when the attempt tries again (Unix time, in ms)
 * @returns the message to send
 */
async function parkWaiting(context: Context, message: DeliveryMessage, notBefore: number): Promise<DeliveryMessage> {
  if (notBefore < Date.parse(message.bookedAt ?? message.dueAt) + waitsAsMessageMs) return message;
  const { waitsUntil } = (await readParkedAttempt(context, message)) ?? {};
  const until = waitsUntil === undefined ? 0 : Date.parse(waitsUntil);
  const isExpected = notBefore <= until && !isTooFarAhead(until, context.clock(), maxDelayMs + triesGraceMs);
  if (!isExpected && (await storeWait(context, message, timestamp(notBefore + triesGraceMs))))
    await unlistParked(context, message);
  return { ...message, parked: true };
}
