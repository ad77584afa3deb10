import type { DeliveryMessage } from '../../names/messages.ts';
import { lateAfterMs } from '../../table/deliveries/attempt-log.ts';
import type { Target } from '../../table/webhooks/webhooks.ts';

/**
 * An attempt to a webhook with a maximum of attempts in a second books a time if there is no permit soon, so that its message is
 * rarely received in vain. The time says when the message comes back; then the attempt takes a permit, or books again if there is
 * none. A pause and a change of the maximum begin a new version of the webhook's pace, and end all times that were booked before.
 * So does the first worker that finds times of a clock that was ahead.
 */

/** The part of a webhook that decides which bookings count. */
type Pace = Pick<Target, 'paceVersion'>;

/**
 * How long before its booked time an attempt may take a permit, in milliseconds: queues delay messages by whole seconds, and a
 * message that comes after its time has lost a part of it.
 */
export const earlyMs = 999;

/**
 * How long after it was due the booked time of an attempt is one at which it is late, in milliseconds. Just before it is late, a worker
 * with a copy of its message need not wait for a time of the next second.
 */
export const bookedLateMs = lateAfterMs + 2_000;

/** The shortest time until the message of an attempt comes back, in milliseconds. */
export const minDelayMs = 1_000;

/**
 * How long after it was due an attempt can wait without an item that says so, in milliseconds. It is shorter than the time after
 * which the sweeper takes its message for lost, by as much as the queue may delay the message.
 */
export const waitsAsMessageMs = 30_000;

/** Returns whether an attempt has booked a time that has not ended with a pause or a change of the maximum. */
export function hasBooking(
  message: DeliveryMessage,
  { paceVersion }: Pace,
): message is DeliveryMessage & { bookedAt: string } {
  return message.bookedAt !== undefined && message.paceVersion === paceVersion;
}

/** Returns whether the time that an attempt has booked has ended with a pause or a change of the maximum. */
export function isBookingOver(message: DeliveryMessage, { paceVersion = 0 }: Pace): boolean {
  return message.bookedAt !== undefined && (message.paceVersion ?? 0) < paceVersion;
}

/** Returns a message without the time that its attempt has booked. */
export function withoutBooking({ bookedAt, paceVersion, ...message }: DeliveryMessage): DeliveryMessage {
  return message;
}

/**
 * Returns whether an attempt has booked a time at which it is late, so that no other worker can be making it in time: before, workers
 * with copies of its message had to wait for the same time.
 */
export function isBookedLate(message: DeliveryMessage, target: Target): boolean {
  return hasBooking(message, target) && Date.parse(message.bookedAt) >= Date.parse(message.dueAt) + bookedLateMs;
}

/** Returns whether an attempt must wait for the time that it has booked, or for attempts that have booked before it. */
export function isBooked(message: DeliveryMessage, target: Target, now: number): boolean {
  if (target.maxPerSecond === undefined) return false;
  const turn = hasBooking(message, target) ? Date.parse(message.bookedAt) : (target.bookedUntil ?? 0);
  return turn > now + earlyMs;
}
