import type { Context } from '../context.ts';
import { timestamp } from '../contract/ids.ts';
import type { DeliveryMessage } from '../deployment/messages.ts';
import type { Counts } from '../deployment/metrics.ts';
import { closeAttemptCounts, isTurnToCount } from '../table/attempt-counts.ts';
import { attemptKey, type Retry } from '../table/attempt-items.ts';
import {
  beginAttempt,
  type FoundAttempt,
  findAttempt,
  insertAttempt,
  undecidedUntil,
  unlistAttempt,
} from '../table/attempt-log.ts';
import { graceMs } from '../table/due.ts';
import { leaseSlowAttempt, markWebhookSlow, updatePace } from '../table/webhook-attempts.ts';
import type { Target } from '../table/webhooks.ts';
import { endAttempt, markAttemptSlow, startAttempt } from './attempt-limits.ts';
import { sendAttemptMessages } from './attempt-messages.ts';
import { attemptResultOf, slowMs } from './attempt-result.ts';
import { type Outcome, type Post, sendToReceiver } from './sender.ts';
import { signedPost } from './signed-post.ts';

/** An attempt that can be made: its message, its webhook and its event. */
type Attempt = { message: DeliveryMessage; target: Target; loggedEvent: NonNullable<FoundAttempt['loggedEvent']> };

/** The lease of an attempt to a slow webhook, in milliseconds: 10 s for the request, and time to write the result. */
export const leaseMs = 20_000;

/** The shortest delay of a message that finds no free lease, in milliseconds. */
const leastWaitMs = 1_000;

/**
 * Makes the attempt that a message names, unless the log has it. An early retry is sent again for the time when it is due.
 * A message for a slow webhook is sent to the queue of slow webhooks, and so is a message whose webhook turned out to be
 * slow while it waited for the other attempts in this process.
 *
 * It may run any number of times, in any order: an interruption between two steps repeats what was done, and loses nothing.
 * A duplicate message whose attempt is under way in this process makes no attempt, and fails if that attempt fails: SQS may
 * deliver a message twice, and either success deletes it.
 *
 * @returns counts for the metrics
 */
export async function deliverWebhook(context: Context, message: DeliveryMessage): Promise<Counts> {
  const { attemptsInProgress } = context;
  const name = `${message.deliveryId} ${message.attempt}`;
  const underWay = attemptsInProgress.get(name);
  if (underWay) return underWay.then(() => ({}));
  const counts = attemptOnce(context, message).finally(() => attemptsInProgress.delete(name));
  attemptsInProgress.set(name, counts);
  return counts;
}

async function attemptOnce(context: Context, message: DeliveryMessage): Promise<Counts> {
  const { clock } = context;
  const { attempt, dueAt, webhookId } = message;
  const { made, superseded, target, loggedEvent } = await findAttempt(context, message);
  if (superseded) return {};
  if (made || !target || !loggedEvent) {
    await unlistAttempt(context, message);
    return {};
  }
  // A first attempt is due since its event: a clock that is a little behind does not make it early.
  if (attempt > 1 && Date.parse(dueAt) > clock()) {
    await sendAttemptMessages(context, [message]);
    return {};
  }
  const notBefore = undecidedUntil(dueAt, clock());
  if (notBefore) {
    await sendAttemptMessages(context, [message], notBefore);
    return {};
  }
  const found = { message, target, loggedEvent };
  if (message.slow) return attemptSlow(context, found);
  if (target.slow || !(await startAttempt(context, webhookId))) {
    await sendAttemptMessages(context, [slowly(message)]);
    return {};
  }
  try {
    return await makeAttempt(context, found);
  } finally {
    endAttempt(context, webhookId);
  }
}

/**
 * Makes an attempt from the queue of slow webhooks, with one of the webhook's leases on slow attempts, so that one webhook
 * cannot take all calls of that queue. If no lease is free, the message is sent again with a delay.
 */
async function attemptSlow(context: Context, attempt: Attempt): Promise<Counts> {
  const { clock } = context;
  const { message, target } = attempt;
  const { organization, webhookId } = message;
  const number = freeLease(context, target, message);
  const lease = { now: timestamp(clock()), until: timestamp(clock() + leaseMs) };
  const isLeased =
    number !== undefined && (await leaseSlowAttempt(context, organization, webhookId, { ...lease, number }));
  if (isLeased) return makeAttempt(context, attempt, number);
  // No lease is free, or another worker took it first.
  await sendAttemptMessages(context, [slowly(message)], clock() + waitMs(clock(), message));
  return {};
}

/** Returns the number of a lease that seems free. Deliveries choose different ones, because many choose at the same time. */
function freeLease(
  { clock, attemptLimits }: Context,
  { slowLeases }: Target,
  { deliveryId }: DeliveryMessage,
): number | undefined {
  const now = timestamp(clock());
  const numbers = Array.from({ length: attemptLimits.slow }, (_, number) => number);
  const free = numbers.filter((number) => (slowLeases[number] ?? '') <= now);
  return free[Number.parseInt(deliveryId.slice(-4), 36) % free.length];
}

/** Returns the delay of a message that finds no lease: a quarter of the time since it was due, which spreads messages. */
function waitMs(now: number, { dueAt }: DeliveryMessage): number {
  return Math.max(leastWaitMs, (now - Date.parse(dueAt)) / 4);
}

/** Makes an attempt, unless it is late and the log has it; writes its result, and sends the message of the retry. */
async function makeAttempt(
  context: Context,
  { message, target, loggedEvent }: Attempt,
  slowLease?: number,
): Promise<Counts> {
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
  const outcome = await sendWatched(context, message, target, post);
  const endedAt = clock();
  const retry = retryAfter(context, attempt, outcome, endedAt);
  const { record, slow } = attemptResultOf({ place, event }, outcome, endedAt);
  await Promise.all([
    insertAttempt(context, { place, record, eventId, requestId, retry }),
    updatePace(context, organization, webhookId, target, { slow, slowLease }),
  ]);
  await unlistAttempt(context, message);
  if (retry) {
    const { slow: _, ...again } = message;
    const { sk: listedBy } = attemptKey(place);
    const next = { ...again, attempt: attempt + 1, dueAt: retry.nextAttemptAt, listedBy };
    await sendAttemptMessages(context, [next]);
  }
  if (attempt === 1 && isTurnToCount(deliveryId)) await closeAttemptCounts(context, organization, webhookId, endedAt);
  return { AttemptsDelivered: outcome.error === undefined ? 1 : 0 };
}

/**
 * Sends a request to the receiver, and marks the webhook as slow as soon as that has taken 2 s. Until its end many other
 * attempts would start, and each of them would hold up a call of its queue.
 */
async function sendWatched(
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

/** Returns the retry after a failed attempt (docs/architecture.md#retry-schedule); `undefined` at the end of the delivery. */
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

/** Returns the message of an attempt for the queue of slow webhooks. */
const slowly = (message: DeliveryMessage): DeliveryMessage => ({ ...message, slow: true });
