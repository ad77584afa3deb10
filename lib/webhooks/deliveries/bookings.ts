import { timestamp } from '../../contract/ids.ts';
import type { DeliveryMessage } from '../../deployment/messages.ts';
import type { BatchingContext } from '../../table/batchers.ts';
import { isTooFarAhead } from '../../table/clocks.ts';
import { unlistParked } from '../../table/deliveries/attempt-log.ts';
import { type Booking, readParkedAttempt, storeBooking } from '../../table/deliveries/parked-attempts.ts';
import { bookAttempt, endTimesAhead } from '../../table/deliveries/webhook-attempts.ts';
import { readWebhook, type Target } from '../../table/deliveries/webhooks.ts';
import { graceMs } from '../../table/lists/due.ts';

/**
 * An attempt to a webhook with a maximum of attempts in a second books a time if it finds no free lease, so that its message
 * is rarely received in vain. The time is stored with the attempt, and all copies of its message use it. A pause and a change of
 * the maximum begin a new version of the webhook's pace, and end all times that were booked before. So does the first worker
 * that finds times of a clock that was ahead. An attempt that has missed its time books another one.
 */

type BookingContext = BatchingContext & { clock: () => number };

/** The part of a webhook that decides which bookings count. */
type Pace = Pick<Target, 'paceVersion' | 'latestBookingAt'>;

/**
 * How long an attempt keeps its lease from the beginning of its request, in milliseconds, if its webhook has a maximum of
 * attempts in a second: a second, and time for requests that take longer to arrive than the next ones.
 */
export const pacedMs = 1_100;

/**
 * The time in which as many attempts are booked as there are leases, in milliseconds. It is longer than `pacedMs`, because
 * requests do not begin exactly at the booked times: the leases have the last word.
 */
const bookedMs = 1_200;

/**
 * How long before its booked time the message of an attempt may be received, in milliseconds. Queues delay messages by whole
 * seconds. A message that was received after its time would compete for the leases with the attempts that have booked later.
 * So it is received up to a second before its time, and `waitForBookedTime` waits for the rest.
 */
export const receivedEarlyMs = 999;

/**
 * How long after its booked time an attempt tries to get a lease, in milliseconds. Then it has missed its time: the clock was set
 * forward, the machine has slept, or no worker ran. Many attempts miss their times together, and need new ones.
 */
const bookedForMs = 25_000;

/**
 * Returns whether an attempt has missed the time that it has booked. That of a receiver that is also slow never has: there are
 * fewer leases than booked times, so attempts are late anyway.
 *
 * @param now Unix time, in ms
 */
export function hasMissedTime(
  { bookedAt }: Pick<Booking, 'bookedAt'>,
  { slow }: Pick<Target, 'slow'>,
  now: number,
): boolean {
  return !slow && now - Date.parse(bookedAt) > bookedForMs;
}

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
export function withoutBooking({ bookedAt: _, paceVersion: __, ...message }: DeliveryMessage): DeliveryMessage {
  return message;
}

/**
 * Waits for the time that an attempt has booked, if its message was received less than a second before it. A message that was
 * received earlier may have the time of a clock that was ahead, which ends here.
 */
export async function waitForBookedTime(
  context: BookingContext & { pause: (milliseconds: number, signal: AbortSignal) => Promise<void> },
  { organization, webhookId, bookedAt }: DeliveryMessage,
): Promise<void> {
  const remainingMs = bookedAt === undefined ? 0 : Date.parse(bookedAt) - context.clock();
  if (remainingMs > receivedEarlyMs) await endTimesAhead(context, organization, webhookId);
  else if (remainingMs > 0) await context.pause(remainingMs, new AbortController().signal);
}

/** Returns whether an attempt must wait for the time that it has booked, or for those that have booked before it. */
export function isBooked(message: DeliveryMessage, target: Target, now: number): boolean {
  if (target.maxPerSecond === undefined) return false;
  return (hasBooking(message, target) ? Date.parse(message.bookedAt) : (target.bookedUntil ?? 0)) > now;
}

/**
 * Books a time for an attempt, and stores it in the item of the attempt, which then lists the attempt for the sweeper
 * instead of any other item. An attempt that has booked already keeps its time, unless it has missed it.
 *
 * The pace may change between these steps, and the release of the waiting attempts may not find this one. So the webhook is
 * read again at the end.
 *
 * @returns the message with the booked time; without one if the webhook was deleted, paused or changed in the meantime,
 *   another worker was first, or a clock that was ahead has booked. The worker that receives it again decides anew.
 */
export async function bookTime(
  context: BookingContext,
  message: DeliveryMessage,
  maxPerSecond: number,
  { paceVersion, latestBookingAt = 0, slow }: Pace & Pick<Target, 'slow'>,
): Promise<DeliveryMessage> {
  const { organization, webhookId } = message;
  if (isTooFarAhead(latestBookingAt, context.clock(), 0)) {
    await endTimesAhead(context, organization, webhookId);
    return withoutBooking(message);
  }
  const stored = (await readParkedAttempt(context, message))?.message;
  const now = context.clock();
  if (stored && hasBooking(stored, { paceVersion }) && !hasMissedTime(stored, { slow }, now))
    return { ...message, ...bookingOf(stored.bookedAt, paceVersion) };
  const slot = { earliest: now + pacedMs, gapMs: Math.ceil(bookedMs / maxPerSecond), paceVersion };
  const time = await bookAttempt(context, organization, webhookId, slot);
  if (time === undefined) return withoutBooking(message);
  const booked = { ...message, ...bookingOf(timestamp(time), paceVersion) };
  const times = { listedFrom: timestamp(time + graceMs), missedBefore: timestamp(now - bookedForMs) };
  if (!(await storeBooking(context, booked, times))) return withoutBooking(message);
  const webhook = await readWebhook(context, organization, webhookId);
  if (!webhook || webhook.paceVersion !== paceVersion) return { ...withoutBooking(message), parked: true };
  await unlistParked(context, message);
  return booked;
}

const bookingOf = (bookedAt: string, paceVersion: number | undefined): Booking & { parked: true } => ({
  bookedAt,
  ...(paceVersion !== undefined && { paceVersion }),
  parked: true,
});
