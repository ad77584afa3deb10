import type { Context } from '../../context.ts';
import type { EventName } from '../../contract/events.ts';
import { timestamp } from '../../contract/ids.ts';
import type { DeliveryMessage } from '../../deployment/messages.ts';
import type { Counts } from '../../deployment/metrics.ts';
import { longestDelaySeconds } from '../../sqs/queue.ts';
import { isTooFarAhead } from '../../table/clocks.ts';
import { closeAttemptCounts, isTurnToCount } from '../../table/deliveries/attempt-counts.ts';
import { attemptKey, type Retry } from '../../table/deliveries/attempt-items.ts';
import {
  beginAttempt,
  earliestStartOf,
  type FoundAttempt,
  findAttempt,
  insertAttempt,
  unlistAttempt,
  unlistParked,
} from '../../table/deliveries/attempt-log.ts';
import { readParkedAttempt, removeParkedAttempt, storeWait } from '../../table/deliveries/parked-attempts.ts';
import { lastResume } from '../../table/deliveries/pauses.ts';
import { responseItem, responsesEnd } from '../../table/deliveries/responses.ts';
import { leaseSlowAttempt, markWebhookSlow, updatePace } from '../../table/deliveries/webhook-attempts.ts';
import type { Target } from '../../table/deliveries/webhooks.ts';
import { isBehindLog } from '../../table/events/log-clock.ts';
import { attemptLeaseMs, isLeaseOver } from '../../table/lease.ts';
import { graceMs } from '../../table/lists/due.ts';
import { checkFailing } from '../failing-receivers.ts';
import { type Outcome, type Post, sendToReceiver } from '../sender/sender.ts';
import { signedPost } from '../sender/signed-post.ts';
import { endAttempt, isKnownSlow, leaseCountOf, markAttemptSlow, needsLease, startAttempt } from './attempt-limits.ts';
import { sendAttemptMessages, startOf } from './attempt-messages.ts';
import { attemptResultOf, slowMs } from './attempt-result.ts';
import {
  bookTime,
  hasBooking,
  isBooked,
  pacedMs,
  receivedEarlyMs,
  waitForBookedTime,
  withoutBooking,
} from './bookings.ts';
import { exchangeOf } from './exchange.ts';
import { holdBack } from './paused-attempts.ts';

/** An attempt to make: its message, its webhook and its event. */
type Attempt = { message: DeliveryMessage; target: Target; loggedEvent: NonNullable<FoundAttempt['loggedEvent']> };

/** The log fields of an attempt that was made. */
export type AttemptFields = {
  event: EventName;
  /** The host of the receiver, with its port. The path and the query of its URL may be secret. */
  receiver: string;
  /** 0 without a response. */
  httpStatus: number;
  durationMs: number;
  /** The reason of a failed attempt, which names nothing internal. */
  error?: string;
  /** When the retry is due; absent after the last attempt. */
  nextAttemptAt?: string;
  /** Present if the attempt has led to a pause of the webhook. */
  disabledReason?: 'failing';
};

/** The result of a message: counts for the metrics, and the fields of the attempt if one was made. */
type Delivered = { counts?: Counts } & Partial<AttemptFields>;

/**
 * The longest time from a lease to the beginning of the request, in milliseconds, if its webhook has a maximum of attempts in
 * a second: a request that begins later could outlast the lease.
 */
const prepareMs = 5_000;

/** The shortest delay after which a message is received again if no lease was free, in milliseconds. */
const minDelayMs = 1_000;

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
 * Makes the attempt that a message names, unless the attempt log has its row. If a retry is not due yet, its message is
 * sent again with a delay. If the webhook is paused, nothing is sent (`holdBack`). If the webhook is slow, or becomes slow
 * while the attempt waits for other attempts in this process, the message is sent to the queue of slow webhooks. If it comes
 * from that queue, and its webhook needs no lease any more, it is sent to the queue of its attempt.
 *
 * Several calls for one message are safe. If a call is interrupted between two steps, the next call repeats the steps, and
 * nothing is lost. While a call for the same attempt is in progress in this process, a further message waits for it, and
 * fails if it fails. Then it is processed as any other message: the call before may not have made the attempt, and may
 * have sent this very message, to another queue or with a delay.
 */
export async function deliverWebhook(context: Context, message: DeliveryMessage): Promise<Delivered> {
  const { attemptsInProgress } = context;
  const key = `${message.deliveryId} ${message.attempt}`;
  for (let other = attemptsInProgress.get(key); other; other = attemptsInProgress.get(key)) await other;
  const delivered = processMessage(context, message).finally(() => attemptsInProgress.delete(key));
  attemptsInProgress.set(key, delivered);
  return delivered;
}

async function processMessage(context: Context, received: DeliveryMessage): Promise<Delivered> {
  const { clock } = context;
  const { attempt, dueAt, webhookId } = received;
  // The webhook is read after the wait: a request may change it in the meantime.
  await waitForBookedTime(context, received);
  const { made, superseded, target, loggedEvent } = await findAttempt(context, received);
  // The row that has listed the attempt lists the one that replaces it.
  if (superseded) {
    if (received.parked) await removeParkedAttempt(context, received);
    return {};
  }
  // A worker that was lost while it parked the attempt has left its item.
  const mayBeParked = target !== undefined && lastResume(target) > Date.parse(dueAt);
  const message = mayBeParked ? { ...received, parked: true as const } : received;
  if (made || !target || !loggedEvent) {
    await unlistAttempt(context, message);
    return {};
  }
  // A first attempt is due at the time of its event. It can only seem early, if the clock of this function is behind.
  if (attempt > 1 && startOf(context, message, 0) > clock()) {
    await sendAttemptMessages(context, [message]);
    return {};
  }
  if (await holdBack(context, message, target, loggedEvent.logTime)) return {};
  const notBefore = earliestStartOf(dueAt, clock());
  if (notBefore) {
    await sendAttemptMessages(context, [message], notBefore);
    return {};
  }
  const ready = { message, target, loggedEvent };
  if (message.slow) {
    if (needsLease(target) || isKnownSlow(context, webhookId)) return attemptSlow(context, ready);
    await sendAttemptMessages(context, [promptMessageOf(message)], clock());
    return {};
  }
  if (needsLease(target) || !(await startAttempt(context, webhookId))) {
    await sendAttemptMessages(context, [slowMessageOf(message)], clock());
    return {};
  }
  try {
    return await makeAttempt(context, ready);
  } finally {
    endAttempt(context, webhookId);
  }
}

/**
 * Makes an attempt from the queue of slow webhooks. It takes one of the webhook's leases first, so that one webhook cannot
 * occupy all concurrent calls of that queue. If no lease is free, the message is sent again with a delay.
 */
async function attemptSlow(context: Context, attempt: Attempt): Promise<Delivered> {
  const { clock } = context;
  const { message, target } = attempt;
  if (isBooked(message, target, clock())) return postpone(context, attempt);
  const { organization, webhookId } = message;
  const number = freeLeaseOf(context, target, message);
  const leasedAt = clock();
  const until = timestamp(leasedAt + attemptLeaseMs);
  const isLeased =
    number !== undefined &&
    (await leaseSlowAttempt(context, organization, webhookId, { number, now: timestamp(leasedAt), until }));
  if (isLeased) return makeAttempt(context, attempt, { number, leasedAt, until });
  // No lease is free, or another worker took it first.
  return postpone(context, attempt);
}

/**
 * Sends the message of an attempt again, with a delay. If the webhook has a maximum of attempts in a second, the attempt
 * books a time, unless it has booked one.
 */
async function postpone(context: Context, { message, target, loggedEvent }: Attempt): Promise<Delivered> {
  const { maxPerSecond } = target;
  const slow = slowMessageOf(hasBooking(message, target) ? message : withoutBooking(message));
  const books = maxPerSecond !== undefined && !hasBooking(message, target);
  const again = books ? await bookTime(context, slow, maxPerSecond, target) : slow;
  const triedAt = triedAgainAt(again, target, loggedEvent, context.clock());
  const waits = maxPerSecond === undefined || hasBooking(again, target);
  const waiting = waits ? await parkWaiting(context, again, triedAt) : again;
  await sendAttemptMessages(context, [waiting], triedAt);
  return {};
}

/**
 * Parks an attempt that has waited for a lease for long, so that its message is not the only thing that leads to it, or its
 * item is not due while it waits. Its item is due some time after the next try, instead of any other item that lists the
 * attempt. Later tries write only if they come after that time.
 *
 * @param triedAt when the attempt tries again (Unix time, in ms)
 * @returns the message to send
 */
async function parkWaiting(context: Context, message: DeliveryMessage, triedAt: number): Promise<DeliveryMessage> {
  if (triedAt < Date.parse(message.bookedAt ?? message.dueAt) + waitsAsMessageMs) return message;
  const { waitsUntil } = (await readParkedAttempt(context, message)) ?? {};
  const until = waitsUntil === undefined ? 0 : Date.parse(waitsUntil);
  const isExpected = triedAt <= until && !isTooFarAhead(until, context.clock(), maxDelayMs + triesGraceMs);
  if (!isExpected && (await storeWait(context, message, timestamp(triedAt + triesGraceMs))))
    await unlistParked(context, message);
  return { ...message, parked: true };
}

/**
 * Returns when the message of an attempt that has no lease is received again (Unix times, in ms): just before its booked
 * time, or after an eighth to a quarter of the time since it was due. If its booked time is over, it has its turn, and waits
 * for a sixteenth of the time since then, unless the receiver is also slow. An attempt that could book no time tries again
 * after a second. After a step of the clock, the time of its event in the log says how long a first attempt can have waited
 * at most.
 */
function triedAgainAt(
  message: DeliveryMessage,
  target: Target,
  { logTime = 0 }: Attempt['loggedEvent'],
  now: number,
): number {
  if (target.maxPerSecond === undefined) {
    const waitingSince = Math.max(Date.parse(message.dueAt), logTime);
    return now + delayMs(now - waitingSince, slowPartOf(message));
  }
  if (!hasBooking(message, target)) return now + minDelayMs;
  const bookedAt = Date.parse(message.bookedAt);
  return bookedAt > now
    ? bookedAt - receivedEarlyMs
    : now + delayMs(now - bookedAt, target.slow ? slowPartOf(message) : 16);
}

/** Returns the delay of an attempt that finds no free lease, as a part of the time for which it has waited, in ms. */
const delayMs = (waitedMs: number, part: number) => Math.min(maxDelayMs, Math.max(minDelayMs, waitedMs / part));

/**
 * Returns the part of the time since it was due after which an attempt tries again, from 4 to 8. Attempts that were due at the
 * same time have different ones. Otherwise all of a backlog would try at the same moments, and the leases would be free most
 * of the time between them.
 */
const slowPartOf = ({ deliveryId }: DeliveryMessage) => 4 + (4 * randomOf(deliveryId)) / 36 ** 4;

/** Returns a whole number from 0 to 36 ** 4 from the random end of a delivery id. */
const randomOf = (deliveryId: string) => Number.parseInt(deliveryId.slice(-4), 36);

/**
 * Returns the number of a lease that seems free. Many deliveries choose at the same time, so the random end of the
 * delivery id decides among the free leases.
 */
function freeLeaseOf(context: Context, target: Target, { deliveryId }: DeliveryMessage): number | undefined {
  const now = context.clock();
  const { slowLeases } = target;
  const numbers = Array.from({ length: leaseCountOf(context, target) }, (_, number) => number);
  const free = numbers.filter((number) => {
    const until = slowLeases[number];
    return until === undefined || isLeaseOver(Date.parse(until), now, attemptLeaseMs);
  });
  return free[randomOf(deliveryId) % free.length];
}

/**
 * Makes an attempt, writes its result and sends the message of the retry, if there is one. Skips a late attempt that the
 * log has.
 */
async function makeAttempt(
  context: Context,
  { message, target, loggedEvent }: Attempt,
  lease?: { number: number; leasedAt: number; until: string },
): Promise<Delivered> {
  const { clock } = context;
  const { organization, webhookId, deliveryId, attempt, eventId, requestId, redelivery, scheduleStart } = message;
  const { event, data } = loggedEvent;
  const begun = await beginAttempt(context, message, clock());
  if (begun === 'made') {
    await unlistAttempt(context, message);
    return {};
  }
  if ('notBefore' in begun) {
    await sendAttemptMessages(context, [message], begun.notBefore);
    return {};
  }
  const { place } = begun;
  const delivery = { deliveryId, event, data: JSON.parse(data) };
  const post = await signedPost(context, delivery, target, { organization, webhook: webhookId });
  const beganAt = clock();
  const isPaced = target.maxPerSecond !== undefined;
  if (isPaced && lease && beganAt > lease.leasedAt + prepareMs) {
    await sendAttemptMessages(context, [message], beganAt + minDelayMs);
    return {};
  }
  const outcome = await sendAndMarkSlow(context, message, target, post);
  const endedAt = clock();
  const retry = retryAfter(context, message, outcome, endedAt);
  const { record, slow } = attemptResultOf({ place, event }, outcome, endedAt);
  const { sent, response } = exchangeOf(post, outcome);
  const kept = response && responseItem(place, response, responsesEnd(record.deliveredAt, context.responseDays));
  await Promise.all([
    insertAttempt(context, { place, record, eventId, requestId, scheduleStart, retry, sent }, kept),
    updatePace(context, organization, webhookId, target, {
      slow,
      lease: lease && { ...lease, freeAt: isPaced ? timestamp(beganAt + pacedMs) : undefined },
    }),
  ]);
  await unlistAttempt(context, message);
  if (retry) {
    // The retry is sent to its own queue, even if this message was in the queue of slow webhooks.
    const { slow: _, parked: __, ...rest } = withoutBooking(message);
    const { sk: listedBy } = attemptKey(place);
    const next = { ...rest, attempt: attempt + 1, dueAt: retry.nextAttemptAt, listedBy };
    await sendAttemptMessages(context, [next]);
  }
  // After a step back, counts may be closed up to a time of the future.
  const isTurn = isTurnToCount(deliveryId);
  if (attempt === 1 && (isTurn || isBehindLog(context)))
    await closeAttemptCounts(context, organization, webhookId, endedAt, isTurn);
  const isExhausted = outcome.error !== undefined && !retry && !redelivery;
  const isPaused = isExhausted && (await checkFailing(context, organization, webhookId, target, endedAt));
  const counts = {
    AttemptsDelivered: outcome.error === undefined ? 1 : 0,
    ...(isPaused && { WebhooksPaused: 1 }),
  };
  return { counts, ...fieldsOf(event, target, outcome, retry), ...(isPaused && { disabledReason: 'failing' }) };
}

function fieldsOf(
  event: EventName,
  { url }: Target,
  { httpStatus, durationMs, error }: Outcome,
  retry: Retry | undefined,
): AttemptFields {
  return {
    event,
    receiver: URL.parse(url)?.host ?? '',
    httpStatus,
    durationMs,
    ...(error !== undefined && { error }),
    ...(retry && { nextAttemptAt: retry.nextAttemptAt }),
  };
}

/**
 * Sends a request to the receiver, and marks the webhook as slow when the request has taken 2 s. The mark does not wait
 * for the end of the request: until then many other attempts could start, and each would occupy a call of its queue.
 */
async function sendAndMarkSlow(
  context: Context,
  { organization, webhookId }: DeliveryMessage,
  target: Target,
  post: Post,
): Promise<Outcome> {
  let marked: Promise<void> | undefined;
  const stopTimer = context.startTimer(() => {
    markAttemptSlow(context, webhookId);
    // If this write fails, the end of the attempt marks the webhook.
    if (!target.slow) marked = markWebhookSlow(context, organization, webhookId).catch(() => {});
  }, slowMs);
  try {
    return await sendToReceiver(context, post);
  } finally {
    stopTimer();
    await marked;
  }
}

/**
 * Returns the retry after an attempt (docs/architecture.md#retry-schedule); `undefined` if the delivery has ended. A
 * redelivery is one attempt.
 */
function retryAfter(
  { retrySchedule }: Context,
  { attempt, redelivery, scheduleStart = 1 }: DeliveryMessage,
  { error }: Outcome,
  endedAt: number,
): Retry | undefined {
  const wait = error === undefined || redelivery ? undefined : retrySchedule[attempt - scheduleStart];
  if (wait === undefined) return undefined;
  return { nextAttemptAt: timestamp(endedAt + wait), dueAt: timestamp(endedAt + wait + graceMs) };
}

/** Returns the message for the queue of slow webhooks. */
const slowMessageOf = (message: DeliveryMessage): DeliveryMessage => ({ ...message, slow: true });

/** Returns the message for the queue of its attempt, which needs no lease. */
const promptMessageOf = ({ slow: _, ...message }: DeliveryMessage): DeliveryMessage => withoutBooking(message);
