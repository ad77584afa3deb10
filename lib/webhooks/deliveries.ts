import { timestamp } from '../contract/ids.ts';
import type { DeliveryMessage } from '../deployment/messages.ts';
import type { Counts } from '../deployment/metrics.ts';
import { type AttemptCounter, isTurnToCount } from '../table/attempt-counts.ts';
import { attemptKey, type Retry } from '../table/attempt-items.ts';
import { type AttemptLog, type Found, undecidedUntil } from '../table/attempt-log.ts';
import { graceMs } from '../table/due.ts';
import type { Subscriptions } from '../table/subscriptions.ts';
import type { WebhookAttempts } from '../table/webhook-attempts.ts';
import type { Target } from '../table/webhooks.ts';
import { type AttemptLimits, createAttemptLimit } from './attempt-limits.ts';
import { attemptedOf, slowMs } from './attempted.ts';
import { post } from './post.ts';
import { openPublisher, type PublisherParts } from './publisher.ts';
import type { RetrySchedule } from './retry-schedule.ts';
import type { SecretsContext } from './secrets.ts';
import type { Outcome, Sender } from './sender.ts';
import { type StartTimer, startTimer as startProcessTimer } from './timer.ts';
import { openWakeUps } from './wake-ups.ts';

/** What deliveries are made of. */
export type DeliveryParts = PublisherParts & {
  attempts: AttemptLog;
  counts: Pick<AttemptCounter, 'close'>;
  webhooks: Subscriptions & WebhookAttempts;
  secrets: SecretsContext;
  retrySchedule: RetrySchedule;
  limits: AttemptLimits;
  startTimer?: StartTimer;
};

/** A message of an attempt, and what there is to know of it. */
type Asked = { message: DeliveryMessage; target: Target; told: NonNullable<Found['told']> };

/** How long an attempt of a slow webhook has its place: 10 s for the attempt and time to write down how it ended. */
export const leaseMs = 20_000;

/**
 * Deliveries: events on their way to webhooks. An event is appended to the log, a message is sent for each webhook that
 * hears it, and each attempt is a row of the attempt log; what waits is in the queues alone. Each method may be run again at
 * any time and in any order: a crash between two steps repeats what was done, and loses nothing.
 */
export function openDeliveries({
  events,
  attempts,
  counts,
  webhooks,
  queues,
  secrets,
  retrySchedule,
  limits,
  clock,
  startTimer = startProcessTimer,
}: DeliveryParts) {
  const wakeUps = openWakeUps(queues, clock);
  const limit = createAttemptLimit(limits.prompt);
  /** The attempts that this process has in hand, by delivery and number. */
  const inHand = new Map<string, Promise<Counts>>();

  return {
    ...openPublisher({ events, webhooks, queues, clock }),

    /**
     * Makes the attempt that a message asks for, unless it was made. A retry that is early is sent again for its time. A
     * message for a slow webhook is sent to the queue of those, and so is one whose webhook has shown to be slow while it
     * waited for the others of its webhook in this container.
     *
     * A copy of a message whose attempt is in hand here has no attempt of its own, and fails where that one fails: SQS may
     * deliver one message twice, and whoever is done with either deletes it.
     *
     * @param send the guarded sender, which only those who attempt have to carry
     * @returns what was counted
     */
    async attempt(message: DeliveryMessage, send: Sender): Promise<Counts> {
      const name = `${message.deliveryId} ${message.attempt}`;
      const other = inHand.get(name);
      if (other) return other.then(() => ({}));
      const counts = attemptOnce(message, send).finally(() => inHand.delete(name));
      inHand.set(name, counts);
      return counts;
    },
  };

  async function attemptOnce(message: DeliveryMessage, send: Sender): Promise<Counts> {
    const { attempt, dueAt, webhookId } = message;
    const { made, superseded, target, told } = await attempts.find(message);
    if (superseded) return {};
    if (made || !target || !told) {
      await attempts.unlist(message);
      return {};
    }
    // A first attempt is due since the change itself: a clock that is a little behind does not make it early.
    if (attempt > 1 && Date.parse(dueAt) > clock()) {
      await wakeUps.send([message]);
      return {};
    }
    const notBefore = undecidedUntil(dueAt, clock());
    if (notBefore) {
      await wakeUps.send([message], notBefore);
      return {};
    }
    const asked = { message, target, told };
    if (message.slow) return attemptSlow(asked, send);
    if (target.slow || !(await limit.start(webhookId))) {
      await wakeUps.send([slowly(message)]);
      return {};
    }
    try {
      return await carryOut(asked, send);
    } finally {
      limit.end(webhookId);
    }
  }

  /**
   * Makes an attempt from the queue of slow webhooks: with one of the webhook's leases on slow attempts, so that no
   * webhook takes all calls of that queue. Where none is free, the message is sent again for later.
   */
  async function attemptSlow(asked: Asked, send: Sender): Promise<Counts> {
    const { message, target } = asked;
    const { organization, webhookId } = message;
    const number = freeLease(target, message);
    const lease = { now: timestamp(clock()), until: timestamp(clock() + leaseMs) };
    const isLeased =
      number !== undefined && (await webhooks.leaseSlowAttempt(organization, webhookId, { ...lease, number }));
    if (isLeased) return carryOut(asked, send, number);
    // None is free, or another worker was sooner.
    await wakeUps.send([slowly(message)], clock() + waitMs(message));
    return {};
  }

  /** A number of a lease that is free as far as the target says: another one for each delivery, since many choose at once. */
  function freeLease({ slowLeases }: Target, { deliveryId }: DeliveryMessage): number | undefined {
    const now = timestamp(clock());
    const numbers = Array.from({ length: limits.slow }, (_, number) => number);
    const free = numbers.filter((number) => (slowLeases[number] ?? '') <= now);
    return free[Number.parseInt(deliveryId.slice(-4), 36) % free.length];
  }

  /** How long a message waits that finds no lease: a part of the time that it has waited, so that few come at once. */
  function waitMs({ dueAt }: DeliveryMessage): number {
    return Math.max(1_000, (clock() - Date.parse(dueAt)) / 4);
  }

  /** Makes an attempt, unless it is late and was made; writes down how it ended, and sends the message of the next one. */
  async function carryOut({ message, target, told }: Asked, send: Sender, slowLease?: number): Promise<Counts> {
    const { organization, webhookId, deliveryId, attempt, eventId, requestId } = message;
    const begun = await attempts.begin(message, clock());
    if (begun === 'made') {
      await attempts.unlist(message);
      return {};
    }
    if ('notBefore' in begun) {
      await wakeUps.send([message], begun.notBefore);
      return {};
    }
    const { place } = begun;
    const outcome = await post(
      { deliveryId, event: told.event, data: JSON.parse(told.data) },
      target,
      { organization, webhook: webhookId },
      { secrets, clock, send: watched(message, target, send) },
    );
    const endedAt = clock();
    const retry = retryAfter(attempt, outcome, endedAt);
    const { record, slow } = attemptedOf({ place, event: told.event }, outcome, endedAt);
    await Promise.all([
      attempts.put({ place, record, eventId, requestId, retry }),
      webhooks.pace(organization, webhookId, target, { slow, slowLease }),
    ]);
    await attempts.unlist(message);
    if (retry) {
      const { slow: _, ...again } = message;
      const { sk: listedBy } = attemptKey(place);
      await wakeUps.send([{ ...again, attempt: attempt + 1, dueAt: retry.nextAttemptAt, listedBy }]);
    }
    if (attempt === 1 && isTurnToCount(deliveryId)) await counts.close(organization, webhookId, endedAt);
    return { AttemptsDelivered: outcome.error === undefined ? 1 : 0 };
  }

  /**
   * A sender that marks the webhook as slow as soon as the post has lasted 2 s: until its end many others would start,
   * and each holds up a call of its queue.
   */
  function watched({ organization, webhookId }: DeliveryMessage, target: Target, send: Sender): Sender {
    return async (one) => {
      let marked: Promise<void> | undefined;
      const stop = startTimer(() => {
        limit.slow(webhookId);
        // Where this fails, the end of the attempt says it.
        if (!target.slow) marked = webhooks.markSlow(organization, webhookId).catch(() => {});
      }, slowMs);
      try {
        return await send(one);
      } finally {
        stop();
        await marked;
      }
    };
  }

  /** The next attempt after a failure (docs/architecture.md#retry-schedule); `undefined` at the end of the delivery. */
  function retryAfter(attempt: number, { error }: Outcome, endedAt: number): Retry | undefined {
    const wait = error === undefined ? undefined : retrySchedule[attempt - 1];
    if (wait === undefined) return undefined;
    return { nextAttemptAt: timestamp(endedAt + wait), dueAt: timestamp(endedAt + wait + graceMs) };
  }
}

/** The message of an attempt that is to be made in the queue of slow webhooks. */
const slowly = (message: DeliveryMessage): DeliveryMessage => ({ ...message, slow: true });
