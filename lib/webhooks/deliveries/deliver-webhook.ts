import type { Context } from '../../context/context.ts';
import { timestamp } from '../../contract/ids.ts';
import type { DeliveryMessage } from '../../names/messages.ts';
import { endSharing, shareConnections } from '../../sender/kept-connections.ts';
import {
  beginAttempt,
  findAttempt,
  lookAtAttempt,
  unlistAttempt,
  unlistReplaced,
} from '../../table/deliveries/attempt-log.ts';
import { removeParkedAttempt } from '../../table/deliveries/parked-attempts.ts';
import { attemptLeaseMs } from '../../table/lease.ts';
import { isRecoveryCancelled } from '../../table/recoveries/recoveries.ts';
import { leaseSlowAttempt, updatePace } from '../../table/webhooks/webhook-attempts.ts';
import { endAttempt, isKnownSlow, startAttempt } from '../attempts/attempt-limits.ts';
import { sendAttemptMessages } from '../attempts/attempt-messages.ts';
import { isBookedLate } from '../attempts/bookings.ts';
import {
  type AttemptToMake,
  type Circumstances,
  type Decision,
  decide,
  slowMessageOf,
} from '../attempts/decide-attempt.ts';
import { type Delivered, makeAttempt, type PreparedAttempt } from '../attempts/make-attempt.ts';
import { park } from '../attempts/paused-attempts.ts';
import {
  isInPermit,
  needsPermit,
  type PacedAttempt,
  permitsOfAttempt,
  takePermit,
  waitForPermit,
} from '../attempts/permits.ts';
import { signedPost } from '../attempts/signed-post.ts';
import { waitForLease } from '../attempts/wait-for-lease.ts';
import { waitForTurn } from '../attempts/wait-for-turn.ts';

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
  // Nothing freezes the one process of a machine between two messages, as Lambda freezes a container.
  shareConnections(context.keptConnections, message.webhookId, context.ownsLogs);
  try {
    return await act(context, await decideNow(context, message));
  } finally {
    endSharing(context.keptConnections, message.webhookId);
  }
}

/** Reads what an attempt needs, and decides what is done with its message. */
async function decideNow(context: Context, message: DeliveryMessage): Promise<Decision> {
  return decide(await findAttempt(context, message), message, circumstancesOf(context, message));
}

/** Reads what can have changed for an attempt that has waited for a moment, and decides again what is done with its message. */
async function decideAgain(context: Context, attempt: AttemptToMake): Promise<Decision> {
  const { message } = attempt;
  const found = { ...attempt, superseded: false, replaced: false, ...(await lookAtAttempt(context, message)) };
  return decide(found, message, circumstancesOf(context, message));
}

function circumstancesOf(context: Context, { webhookId }: DeliveryMessage): Circumstances {
  const { clock, retrySchedule, attemptLimits } = context;
  return { now: clock(), retrySchedule, slowLeases: attemptLimits.slow, isKnownSlow: isKnownSlow(context, webhookId) };
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
    case 'book':
      return act(context, await waitForTurn(context, decision));
    case 'lease':
      return attemptWithLease(context, decision, decision.number);
    case 'attempt':
      return attemptPromptly(context, decision);
  }
}

/**
 * Makes an attempt when the other ones of its webhook in this process let it start. If one of them turns out to be slow, the
 * attempt is made from the queue of slow webhooks. Permits alone limit those to a webhook with a maximum of attempts in a second:
 * a permit is lost while its attempt waits for others.
 */
async function attemptPromptly(context: Context, attempt: AttemptToMake): Promise<Delivered> {
  const { message } = attempt;
  const connections = context.keptConnections.get(message.webhookId);
  if (needsPermit(attempt)) return attemptAtRate(context, attempt, { connections });
  if (!(await startAttempt(context, message.webhookId)))
    return act(context, { kind: 'sendAgain', message: slowMessageOf(message), notBefore: context.clock() });
  try {
    return (await begin(context, attempt, { connections })) ?? {};
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
  const now = context.clock();
  const until = timestamp(now + attemptLeaseMs);
  const isLeased =
    number !== undefined &&
    (await leaseSlowAttempt(context, organization, webhookId, { number, now: timestamp(now), until }));
  if (!isLeased) return act(context, await waitForLease(context, attempt));
  const lease = { number, until };
  if (needsPermit(attempt)) return attemptAtRate(context, attempt, { lease });
  return (await begin(context, attempt, { lease })) ?? {};
}

/** What a worker holds for an attempt: a lease, or the connections that its webhook has kept. */
type Held = Pick<PreparedAttempt, 'lease' | 'connections'>;

/**
 * Makes an attempt to a webhook with a maximum of attempts in a second, in the time of a permit. While it waits for the permit,
 * another worker may make the attempt, and the webhook may be changed, so the worker decides again. Without a permit soon, the
 * attempt waits for its turn. Its lease is free for others then.
 */
async function attemptAtRate(context: Context, found: AttemptToMake & PacedAttempt, held: Held): Promise<Delivered> {
  let attempt = found;
  const { organization, webhookId } = attempt.message;
  const actWithoutLease = async (decision: Decision) => {
    if (held.lease) await updatePace(context, organization, webhookId, attempt.target, { lease: held.lease });
    return act(context, decision);
  };
  for (let missed = 0; missed < permitsOfAttempt; missed++) {
    const permit = await takePermit(context, attempt);
    if (permit === undefined) break;
    if (await waitForPermit(context, permit)) {
      const decision = await decideAgain(context, attempt);
      const isSame = 'target' in decision && decision.target.maxPerSecond === attempt.target.maxPerSecond;
      if (!isSame || !needsPermit(decision)) return actWithoutLease(decision);
      attempt = decision;
    }
    const delivered = await begin(context, attempt, held, permit);
    if (delivered) return delivered;
  }
  return actWithoutLease(await waitForTurn(context, attempt));
}

/**
 * Makes an attempt, unless the log has a late one, or its recovery is cancelled.
 *
 * @param permit the time of its permit (Unix time, in ms), if it needs one
 * @returns `undefined` if it is too late for its permit
 */
async function begin(
  context: Context,
  attempt: AttemptToMake,
  { lease, connections }: Held,
  permit?: number,
): Promise<Delivered | undefined> {
  const { message, target, loggedEvent } = attempt;
  const { organization, webhookId, deliveryId } = message;
  const [begun, isCancelled] = await Promise.all([
    beginAttempt(context, message, context.clock(), isBookedLate(message, target)),
    isRecoveryCancelled(context, message),
  ]);
  if (isCancelled) return act(context, { kind: 'drop', message, unlists: true });
  if (begun === 'made') return act(context, { kind: 'drop', message, unlists: true });
  if ('notBefore' in begun) return act(context, { kind: 'sendAgain', message, notBefore: begun.notBefore });
  const delivery = { deliveryId, event: loggedEvent.event, data: JSON.parse(loggedEvent.data) };
  const post = await signedPost(context, delivery, target, { organization, webhook: webhookId });
  if (permit !== undefined && !isInPermit(post.sentAt, permit)) return undefined;
  return makeAttempt(context, attempt, { place: begun.place, post, lease, connections });
}
