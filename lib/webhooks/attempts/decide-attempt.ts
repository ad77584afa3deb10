import type { DeliveryMessage } from '../../names/messages.ts';
import type { RetrySchedule } from '../../settings/retry-schedule.ts';
import { type FoundAttempt, notBeforeOf } from '../../table/deliveries/attempt-log.ts';
import { lastResume, openPauseOf } from '../../table/webhooks/pauses.ts';
import type { Target } from '../../table/webhooks/webhooks.ts';
import { freeLeaseOf } from './attempt-limits.ts';
import { attemptStart } from './attempt-messages.ts';
import { hasBooking, isBooked, isBookedLate, withoutBooking } from './bookings.ts';
import { eventTimeOf, isSkipped, skippedAfterMs } from './paused-attempts.ts';

/**
 * What is done with the message of an attempt, which is `message` from then on:
 *
 * - `drop`: The attempt was made, or never will be made by this message. Its parked item is removed. If `unlists`, it is also
 *   removed from the sweeper's index: `replaced` only while the item that replaces it is there.
 * - `sendAgain`: The message is sent to its queue, and not received before a time (Unix time, in ms).
 * - `park`: The attempt waits for the end of the pause that began at `pausedFrom` (ISO 8601).
 * - `book`: The attempt waits for its turn, because its webhook has a maximum of attempts in a second.
 * - `lease`: The attempt is made with the lease of this number, or waits if there is no number, or another worker takes it.
 * - `attempt`: The attempt is made, beside a few others of its webhook in this process.
 */
export type Decision = { message: DeliveryMessage } & (
  | { kind: 'drop'; unlists: boolean | 'replaced' }
  | { kind: 'sendAgain'; notBefore: number }
  | { kind: 'park'; pausedFrom: string }
  | ({ kind: 'book' } & AttemptToMake)
  | ({ kind: 'lease'; number?: number | undefined } & AttemptToMake)
  | ({ kind: 'attempt' } & AttemptToMake)
);

/** An attempt to make: its message, its webhook and its event, and whether another item than its parked one may list it. */
export type AttemptToMake = {
  message: DeliveryMessage;
  listed: boolean;
  target: Target;
  loggedEvent: NonNullable<FoundAttempt['loggedEvent']>;
};

/** What a decision depends on besides the message and the stored data. */
export type Circumstances = {
  /** Unix time, in ms. */
  now: number;
  retrySchedule: RetrySchedule;
  /** The number of leases of a slow webhook. */
  slowLeases: number;
  /** Whether a running attempt of this process is known to be slow; see `isKnownSlow`. */
  isKnownSlow: boolean;
};

/** Decides what is done with the message of an attempt. It depends only on its parameters. The first rule that applies decides. */
export function decide(found: FoundAttempt, received: DeliveryMessage, circumstances: Circumstances): Decision {
  const { made, superseded, replaced, listed, target, loggedEvent } = found;
  const { now, retrySchedule, slowLeases, isKnownSlow } = circumstances;
  // The row that has listed the attempt lists its replacement.
  if (superseded) return { kind: 'drop', message: received, unlists: false };
  if (replaced) return { kind: 'drop', message: received, unlists: listed && 'replaced' };
  const message = withLostItem(target && !hasBooking(received, target) ? withoutBooking(received) : received, target);
  if (made || !target || !loggedEvent) return { kind: 'drop', message, unlists: true };

  // A first attempt is due at the time of its event. It can only seem early, if the clock of this function is behind.
  const earliest = attemptStart(message, { now, retrySchedule }, 0);
  if (message.attempt > 1 && earliest > now) return { kind: 'sendAgain', message, notBefore: earliest };

  const paused = decideInPause(message, target, now, loggedEvent.logTime);
  if (paused) return paused;

  const notBefore = isBookedLate(message, target) ? undefined : notBeforeOf(message.dueAt, now);
  if (notBefore) return { kind: 'sendAgain', message, notBefore };

  if (isBooked(message, target, now)) return { kind: 'book', message, listed, target, loggedEvent };
  const isApart = target.slow || isKnownSlow;
  if (isApart && !message.slow) return { kind: 'sendAgain', message: slowMessageOf(message), notBefore: now };
  if (!isApart && message.slow) return { kind: 'sendAgain', message: promptMessageOf(message), notBefore: now };
  if (!isApart) return { kind: 'attempt', message, listed, target, loggedEvent };
  const number = freeLeaseOf({ slow: slowLeases }, target, message, now);
  return { kind: 'lease', message, listed, target, loggedEvent, number };
}

/** Returns a message that names its parked item, also if a worker was lost after it had parked the attempt in a pause. */
function withLostItem(message: DeliveryMessage, target: Target | undefined): DeliveryMessage {
  const mayBeParked = target !== undefined && lastResume(target) > Date.parse(message.dueAt);
  return mayBeParked ? { ...message, parked: true } : message;
}

/**
 * Decides about an attempt of a webhook that was paused at some time. The first attempt of an event in a pause is skipped:
 * nothing is stored. Any other attempt is parked until the pause ends, except for the first one that a recovery makes.
 *
 * @param logTime the time of the event by the clock of the log, if it is not the time of its id (Unix time, in ms)
 * @returns `undefined` if no pause holds the attempt back
 */
function decideInPause(message: DeliveryMessage, target: Target, now: number, logTime?: number): Decision | undefined {
  const pause = openPauseOf(target);
  const eventTime = logTime ?? eventTimeOf(message);
  if (isSkipped(target, message, eventTime)) {
    const decidedAt = eventTimeOf(message) + skippedAfterMs;
    const mayEndBefore = pause !== undefined && Date.parse(pause.from) <= eventTime;
    return mayEndBefore && now < decidedAt
      ? { kind: 'sendAgain', message, notBefore: decidedAt }
      : { kind: 'drop', message, unlists: true };
  }
  if (pause === undefined) return undefined;
  // A recovery sends its own attempts again after the pause, at its rate.
  if (message.scheduleStart === message.attempt && !message.redelivery)
    return { kind: 'drop', message, unlists: false };
  return { kind: 'park', message, pausedFrom: pause.from };
}

/** Returns the message for the queue of slow webhooks. */
export const slowMessageOf = (message: DeliveryMessage): DeliveryMessage => ({ ...message, slow: true });

/** Returns the message for the queue of its attempt, which needs no lease. */
const promptMessageOf = ({ slow, ...message }: DeliveryMessage): DeliveryMessage => message;
