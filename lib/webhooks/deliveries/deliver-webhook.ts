import type { Context } from '../../context.ts';
import { timestamp } from '../../contract/ids.ts';
import type { DeliveryMessage } from '../../deployment/messages.ts';
import { isTooFarAhead } from '../../table/clocks.ts';
import { beginAttempt, findAttempt, unlistAttempt, unlistReplaced } from '../../table/deliveries/attempt-log.ts';
import { removeParkedAttempt } from '../../table/deliveries/parked-attempts.ts';
import { leaseSlowAttempt } from '../../table/deliveries/webhook-attempts.ts';
import { attemptLeaseMs } from '../../table/lease.ts';
import { isRecoveryCancelled } from '../../table/recoveries/recoveries.ts';
import { endSharing, shareConnections } from '../sender/kept-connections.ts';
import { signedPost } from '../sender/signed-post.ts';
import { endAttempt, isKnownSlow, startAttempt } from './attempt-limits.ts';
import { sendAttemptMessages } from './attempt-messages.ts';
import { waitForBookedTime } from './bookings.ts';
import { type AttemptToMake, type Decision, decide, slowMessageOf } from './decide-attempt.ts';
import { type Delivered, makeAttempt, type PreparedAttempt } from './make-attempt.ts';
import { park } from './paused-attempts.ts';
import { minDelayMs, waitForLease } from './wait-for-lease.ts';

/**
 * The longest time from a lease to the beginning of the request, in milliseconds, if its webhook has a maximum of attempts in
 * a second: a request that begins later could outlast the lease.
 */
const prepareMs = 5_000;

/**
 * Decides what is done with the message of an attempt (`decide`), and does it: makes the attempt, unless it was made, is not
 * due, its webhook is paused, or it has to wait for others.
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

async function processMessage(context: Context, message: DeliveryMessage): Promise<Delivered> {
  const { clock, retrySchedule, attemptLimits } = context;
  // The webhook is read after the wait: a request may change it in the meantime.
  await waitForBookedTime(context, message);
  shareConnections(context.keptConnections, message.webhookId);
  try {
    const found = await findAttempt(context, message);
    const circumstances = {
      now: clock(),
      retrySchedule,
      slowLeases: attemptLimits.slow,
      isKnownSlow: isKnownSlow(context, message.webhookId),
    };
    return await act(context, decide(found, message, circumstances));
  } finally {
    endSharing(context.keptConnections, message.webhookId);
  }
}

/** Does what was decided. Returns the result of the attempt, if one was made. */
async function act(context: Context, decision: Decision): Promise<Delivered> {
  const { message } = decision;
  switch (decision.kind) {
    case 'drop':
      if (decision.unlists === 'replaced') await unlistReplaced(context, message);
      else if (decision.unlists) await unlistAttempt(context, message);
      else if (message.parked) await removeParkedAttempt(context, message);
      return {};
    case 'sendAgain':
      await sendAttemptMessages(context, [message], decision.notBefore);
      return {};
    case 'park':
      await park(context, message, decision.pausedFrom);
      return {};
    case 'lease':
      return attemptWithLease(context, decision, decision.number);
    case 'attempt':
      return attemptPromptly(context, decision);
  }
}

/**
 * Makes an attempt when the other ones of its webhook in this process let it start. If one of them turns out to be slow, the
 * attempt is made from the queue of slow webhooks.
 */
async function attemptPromptly(context: Context, attempt: AttemptToMake): Promise<Delivered> {
  const { message } = attempt;
  if (!(await startAttempt(context, message.webhookId)))
    return act(context, { kind: 'sendAgain', message: slowMessageOf(message), notBefore: context.clock() });
  try {
    return await begin(context, attempt, { connections: context.keptConnections.get(message.webhookId) });
  } finally {
    endAttempt(context, message.webhookId);
  }
}

/**
 * Makes an attempt from the queue of slow webhooks. It takes one of the webhook's leases first, so that one webhook cannot
 * occupy all concurrent calls of that queue. If no lease is free, or another worker takes it first, the attempt waits.
 */
async function attemptWithLease(
  context: Context,
  attempt: AttemptToMake,
  number: number | undefined,
): Promise<Delivered> {
  const { organization, webhookId } = attempt.message;
  const leasedAt = context.clock();
  const until = timestamp(leasedAt + attemptLeaseMs);
  const isLeased =
    number !== undefined &&
    (await leaseSlowAttempt(context, organization, webhookId, { number, now: timestamp(leasedAt), until }));
  if (!isLeased) return act(context, await waitForLease(context, attempt));
  return begin(context, attempt, { lease: { number, leasedAt, until } });
}

/**
 * Returns whether a lease holds until the end of an attempt that begins now. One that a clock has set which was set back in the
 * meantime is free for others.
 *
 * @param now Unix time, in ms
 */
function isStillHeld({ leasedAt }: NonNullable<PreparedAttempt['lease']>, now: number): boolean {
  return now <= leasedAt + prepareMs && !isTooFarAhead(leasedAt, now, 0);
}

/** Makes an attempt, unless the log has a late one, its recovery is cancelled, or the preparation took so long that the attempt could outlast its lease. */
async function begin(
  context: Context,
  attempt: AttemptToMake,
  { lease, connections }: Pick<PreparedAttempt, 'lease' | 'connections'>,
): Promise<Delivered> {
  const { message, target, loggedEvent } = attempt;
  const { organization, webhookId, deliveryId } = message;
  const [begun, isCancelled] = await Promise.all([
    beginAttempt(context, message, context.clock()),
    isRecoveryCancelled(context, message),
  ]);
  if (isCancelled) return act(context, { kind: 'drop', message, unlists: true });
  if (begun === 'made') return act(context, { kind: 'drop', message, unlists: true });
  if ('notBefore' in begun) return act(context, { kind: 'sendAgain', message, notBefore: begun.notBefore });
  const delivery = { deliveryId, event: loggedEvent.event, data: JSON.parse(loggedEvent.data) };
  const post = await signedPost(context, delivery, target, { organization, webhook: webhookId });
  const isPaced = target.maxPerSecond !== undefined;
  if (isPaced && lease && !isStillHeld(lease, post.sentAt))
    return act(context, { kind: 'sendAgain', message, notBefore: post.sentAt + minDelayMs });
  return makeAttempt(context, attempt, { place: begun.place, post, lease, connections });
}
