import { allEnded } from '../../aws/all-ended.ts';
import type { Context } from '../../context/context.ts';
import { timestamp } from '../../contract/ids.ts';
import type { EventName } from '../../contract/webhooks/events.ts';
import type { DeliveryMessage } from '../../names/messages.ts';
import type { Counts } from '../../names/metrics.ts';
import type { KeptConnections } from '../../sender/kept-connections.ts';
import { type Outcome, sendToReceiver } from '../../sender/sender.ts';
import { closeAttemptCounts, isTurnToCount } from '../../table/deliveries/attempt-counts.ts';
import { type AttemptPlace, attemptKey, type Retry } from '../../table/deliveries/attempt-items.ts';
import { insertAttempt, unlistAttempt } from '../../table/deliveries/attempt-log.ts';
import { responseItem, responsesEnd } from '../../table/deliveries/responses.ts';
import { isBehindLog } from '../../table/events/log-clock.ts';
import { graceMs } from '../../table/lists/due.ts';
import { markWebhookSlow, updatePace } from '../../table/webhooks/webhook-attempts.ts';
import type { Target } from '../../table/webhooks/webhooks.ts';
import { noteFailure, noteSuccess } from '../announce-failures.ts';
import { checkFailing } from '../failing-receivers.ts';
import { canBeginFailure } from '../failing-times.ts';
import { markAttemptSlow } from './attempt-limits.ts';
import { sendAttemptMessages } from './attempt-messages.ts';
import { attemptResultOf, slowMs } from './attempt-result.ts';
import { withoutBooking } from './bookings.ts';
import type { AttemptToMake } from './decide-attempt.ts';
import { exchangeOf } from './exchange.ts';
import type { SignedPost } from './signed-post.ts';

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
export type Delivered = { counts?: Counts } & Partial<AttemptFields>;

/** What a worker has prepared for an attempt. */
export type PreparedAttempt = {
  /** Its place in the log. */
  place: AttemptPlace;
  post: SignedPost;
  /** The number of its lease and its expiry (ISO 8601); absent if it needs none. */
  lease?: { number: number; until: string } | undefined;
  /** The kept connections of its webhook; absent with a lease. */
  connections?: KeptConnections | undefined;
};

/** Sends the request of an attempt, writes its result and sends the message of the retry, if there is one. */
export async function makeAttempt(
  context: Context,
  { message, listed, target, loggedEvent: { event } }: AttemptToMake,
  { place, post, lease, connections }: PreparedAttempt,
): Promise<Delivered> {
  const { organization, webhookId, deliveryId, attempt, eventId, requestId, redelivery, scheduleStart } = message;
  const outcome = await sendAndMarkSlow(context, message, target, { post, connections });
  const endedAt = context.clock();
  const retry = retryAfter(context, message, outcome, endedAt);
  const { record, slow } = attemptResultOf({ place, event }, outcome, endedAt);
  const { sent, response } = exchangeOf(post, outcome);
  const kept = response && responseItem(place, response, responsesEnd(record.deliveredAt, context.responseDays));
  // Before the row: if the worker is lost in between, the attempt is made again.
  if (outcome.error === undefined) await noteSuccess(context, organization, webhookId, target);
  // If the pace cannot be written, the message comes again, and must find the row.
  await allEnded([
    insertAttempt(context, { place, record, eventId, requestId, scheduleStart, retry, sent }, kept),
    updatePace(context, organization, webhookId, target, { slow, lease }),
  ]);
  await unlistAttempt(context, message, listed);
  if (retry) await sendAttemptMessages(context, [retryMessageOf(message, place, retry)]);
  // After a step back, counts may be closed up to a time of the future.
  const isTurn = isTurnToCount(deliveryId);
  if (attempt === 1 && (isTurn || isBehindLog(context)))
    await closeAttemptCounts(context, organization, webhookId, endedAt, isTurn);
  const isFailure = outcome.error !== undefined && canBeginFailure({ event });
  const isExhausted = isFailure && !retry && !redelivery;
  if (isFailure) await noteFailure(context, organization, webhookId, target, isExhausted);
  const isPaused = isExhausted && (await checkFailing(context, organization, webhookId, target, endedAt));
  const counts = {
    AttemptsDelivered: outcome.error === undefined ? 1 : 0,
    ...(isPaused && { WebhooksPaused: 1 }),
  };
  return { counts, ...fieldsOf(event, target, outcome, retry), ...(isPaused && { disabledReason: 'failing' }) };
}

/**
 * Returns the message of a retry. It is sent to its own queue, even if the attempt before was in the queue of slow webhooks. It
 * is neither a redelivery nor an attempt of a recovery, even if the attempt before was.
 */
function retryMessageOf(message: DeliveryMessage, place: AttemptPlace, { dueAt }: Retry): DeliveryMessage {
  const { slow, parked, parkedInLog, redelivery, recovery, ...rest } = withoutBooking(message);
  return { ...rest, attempt: message.attempt + 1, dueAt, listedBy: attemptKey(place).sk };
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
    ...(retry && { nextAttemptAt: retry.dueAt }),
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
  { post, connections }: Pick<PreparedAttempt, 'post' | 'connections'>,
): Promise<Outcome> {
  let marked: Promise<void> | undefined;
  const stopTimer = context.startTimer(() => {
    markAttemptSlow(context, webhookId);
    // If this write fails, the end of the attempt marks the webhook.
    if (!target.slow) marked = markWebhookSlow(context, organization, webhookId).catch(() => {});
  }, slowMs);
  try {
    return await sendToReceiver(context, post, connections);
  } finally {
    stopTimer();
    await marked;
  }
}

/**
 * Returns the retry after an attempt (docs/architecture.md#retry-schedule); `undefined` if the delivery has ended. A
 * redelivery is one attempt, unless it has replaced a retry: then the schedule begins again.
 */
function retryAfter(
  { retrySchedule }: Context,
  { attempt, redelivery, scheduleStart = 1 }: DeliveryMessage,
  { error }: Outcome,
  endedAt: number,
): Retry | undefined {
  const isOnlyAttempt = redelivery && scheduleStart !== attempt;
  const wait = error === undefined || isOnlyAttempt ? undefined : retrySchedule[attempt - scheduleStart];
  if (wait === undefined) return undefined;
  return { dueAt: timestamp(endedAt + wait), listedFrom: timestamp(endedAt + wait + graceMs) };
}
