import type { Context } from '../../context.ts';
import type { EventName } from '../../contract/events.ts';
import { timestamp } from '../../contract/ids.ts';
import type { DeliveryMessage } from '../../deployment/messages.ts';
import type { Counts } from '../../deployment/metrics.ts';
import { closeAttemptCounts, isTurnToCount } from '../../table/deliveries/attempt-counts.ts';
import { attemptKey, type Retry } from '../../table/deliveries/attempt-items.ts';
import {
  beginAttempt,
  earliestStartOf,
  type FoundAttempt,
  findAttempt,
  insertAttempt,
  unlistAttempt,
} from '../../table/deliveries/attempt-log.ts';
import { leaseSlowAttempt, markWebhookSlow, updatePace } from '../../table/deliveries/webhook-attempts.ts';
import type { Target } from '../../table/deliveries/webhooks.ts';
import { graceMs } from '../../table/lists/due.ts';
import { type Outcome, type Post, sendToReceiver } from '../sender/sender.ts';
import { signedPost } from '../sender/signed-post.ts';
import { endAttempt, markAttemptSlow, startAttempt } from './attempt-limits.ts';
import { sendAttemptMessages } from './attempt-messages.ts';
import { attemptResultOf, slowMs } from './attempt-result.ts';

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
};

/** The result of a message: counts for the metrics, and the fields of the attempt if one was made. */
type Delivered = { counts?: Counts } & Partial<AttemptFields>;

/** The lease of an attempt to a slow webhook, in milliseconds: 10 s for the request, and time to write the result. */
export const leaseMs = 20_000;

/** The shortest delay after which a message is received again if no lease was free, in milliseconds. */
const minDelayMs = 1_000;

/**
 * Makes the attempt that a message names, unless the attempt log has its row. If a retry is not due yet, its message is
 * sent again with a delay. If the webhook is slow, or becomes slow while the attempt waits for other attempts in this
 * process, the message is sent to the queue of slow webhooks.
 *
 * Several calls for one message are safe. If a call is interrupted between two steps, the next call repeats the steps, and
 * nothing is lost. SQS may deliver a message twice, and deletes it after the first success. So a duplicate message whose
 * attempt is in progress in this process waits for that attempt, and fails if it fails.
 */
export async function deliverWebhook(context: Context, message: DeliveryMessage): Promise<Delivered> {
  const { attemptsInProgress } = context;
  const key = `${message.deliveryId} ${message.attempt}`;
  const inProgress = attemptsInProgress.get(key);
  if (inProgress) return inProgress.then(() => ({}));
  const delivered = processMessage(context, message).finally(() => attemptsInProgress.delete(key));
  attemptsInProgress.set(key, delivered);
  return delivered;
}

async function processMessage(context: Context, message: DeliveryMessage): Promise<Delivered> {
  const { clock } = context;
  const { attempt, dueAt, webhookId } = message;
  const { made, superseded, target, loggedEvent } = await findAttempt(context, message);
  if (superseded) return {};
  if (made || !target || !loggedEvent) {
    await unlistAttempt(context, message);
    return {};
  }
  // A first attempt is due at the time of its event. It can only seem early, if the clock of this function is behind.
  if (attempt > 1 && Date.parse(dueAt) > clock()) {
    await sendAttemptMessages(context, [message]);
    return {};
  }
  const notBefore = earliestStartOf(dueAt, clock());
  if (notBefore) {
    await sendAttemptMessages(context, [message], notBefore);
    return {};
  }
  const ready = { message, target, loggedEvent };
  if (message.slow) return attemptSlow(context, ready);
  if (target.slow || !(await startAttempt(context, webhookId))) {
    await sendAttemptMessages(context, [slowMessageOf(message)]);
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
  const { organization, webhookId } = message;
  const number = freeLeaseOf(context, target, message);
  const lease = { now: timestamp(clock()), until: timestamp(clock() + leaseMs) };
  const isLeased =
    number !== undefined && (await leaseSlowAttempt(context, organization, webhookId, { ...lease, number }));
  if (isLeased) return makeAttempt(context, attempt, number);
  // No lease is free, or another worker took it first.
  await sendAttemptMessages(context, [slowMessageOf(message)], clock() + delayMs(clock(), message));
  return {};
}

/**
 * Returns the number of a lease that seems free. Many deliveries choose at the same time, so the random end of the
 * delivery id decides among the free leases.
 */
function freeLeaseOf(
  { clock, attemptLimits }: Context,
  { slowLeases }: Target,
  { deliveryId }: DeliveryMessage,
): number | undefined {
  const now = timestamp(clock());
  const numbers = Array.from({ length: attemptLimits.slow }, (_, number) => number);
  const free = numbers.filter((number) => (slowLeases[number] ?? '') <= now);
  return free[Number.parseInt(deliveryId.slice(-4), 36) % free.length];
}

/** Returns the delay of a message if no lease is free: a quarter of the time since it was due. */
function delayMs(now: number, { dueAt }: DeliveryMessage): number {
  return Math.max(minDelayMs, (now - Date.parse(dueAt)) / 4);
}

/**
 * Makes an attempt, writes its result and sends the message of the retry, if there is one. Skips a late attempt that the
 * log has.
 */
async function makeAttempt(
  context: Context,
  { message, target, loggedEvent }: Attempt,
  slowLease?: number,
): Promise<Delivered> {
  const { clock } = context;
  const { organization, webhookId, deliveryId, attempt, eventId, requestId } = message;
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
  const outcome = await sendAndMarkSlow(context, message, target, post);
  const endedAt = clock();
  const retry = retryAfter(context, attempt, outcome, endedAt);
  const { record, slow } = attemptResultOf({ place, event }, outcome, endedAt);
  await Promise.all([
    insertAttempt(context, { place, record, eventId, requestId, retry }),
    updatePace(context, organization, webhookId, target, { slow, slowLease }),
  ]);
  await unlistAttempt(context, message);
  if (retry) {
    // The retry is sent to its own queue, even if this message was in the queue of slow webhooks.
    const { slow: _, ...rest } = message;
    const { sk: listedBy } = attemptKey(place);
    const next = { ...rest, attempt: attempt + 1, dueAt: retry.nextAttemptAt, listedBy };
    await sendAttemptMessages(context, [next]);
  }
  if (attempt === 1 && isTurnToCount(deliveryId)) await closeAttemptCounts(context, organization, webhookId, endedAt);
  const counts = { AttemptsDelivered: outcome.error === undefined ? 1 : 0 };
  return { counts, ...fieldsOf(event, target, outcome, retry) };
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

/** Returns the retry after an attempt (docs/architecture.md#retry-schedule); `undefined` if the delivery has ended. */
function retryAfter(
  { retrySchedule }: Context,
  attempt: number,
  { error }: Outcome,
  endedAt: number,
): Retry | undefined {
  const wait = error === undefined ? undefined : retrySchedule[attempt - 1];
  if (wait === undefined) return undefined;
  return { nextAttemptAt: timestamp(endedAt + wait), dueAt: timestamp(endedAt + wait + graceMs) };
}

/** Returns the message for the queue of slow webhooks. */
const slowMessageOf = (message: DeliveryMessage): DeliveryMessage => ({ ...message, slow: true });
