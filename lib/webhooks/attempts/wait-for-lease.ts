import type { Context } from '../../context/context.ts';
import { timestamp } from '../../contract/ids.ts';
import type { DeliveryMessage } from '../../names/messages.ts';
import { longestDelaySeconds } from '../../names/queues.ts';
import { isTooFarAhead } from '../../table/access/clocks.ts';
import { unlistParked } from '../../table/deliveries/attempt-log.ts';
import { parkedMessage, readParkedAttempt, storeWait } from '../../table/deliveries/parked-attempts.ts';
import { hasBooking, minDelayMs, waitsAsMessageMs } from './bookings.ts';
import type { AttemptToMake, Decision } from './decide-attempt.ts';
import { randomOf } from './derived-ids.ts';

/** The longest time until an attempt that has found no free lease tries again, in milliseconds. */
const maxDelayMs = longestDelaySeconds * 1_000;

/** How long after the next try to get a lease the sweeper looks for the attempt, in milliseconds. */
const triesGraceMs = 10 * 60_000;

/**
 * Returns when an attempt that has found no free lease tries again: after an eighth to a quarter of the time since it was due, or
 * since the time that it has booked. After a step of the clock, the time of its event in the log says how long a first attempt can
 * have waited at most. If it waits for long, it is parked.
 */
export async function waitForLease(
  context: Context,
  { message, target, loggedEvent: { logTime = 0 } }: AttemptToMake,
): Promise<Decision> {
  const now = context.clock();
  const bookedAt = hasBooking(message, target) ? Date.parse(message.bookedAt) : 0;
  const waitingSince = Math.max(Date.parse(message.dueAt), logTime, bookedAt);
  const notBefore = now + delayMs(now - waitingSince, slowPartOf(message));
  return { kind: 'sendAgain', message: await parkWaiting(context, message, notBefore), notBefore };
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
  if (isExpected || !(await storeWait(context, message, timestamp(notBefore + triesGraceMs))))
    return { ...message, parked: true };
  await unlistParked(context, message);
  return parkedMessage(message);
}
