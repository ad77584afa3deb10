import { randomUUID } from 'node:crypto';
import type { PublicEvent } from '../contract/events.ts';
import { timeOf, timestamp, ulidOf } from '../contract/ids.ts';
import type { DeliveryMessage } from '../contract/messages.ts';
import type { Counts, Waits } from '../contract/metrics.ts';
import type { Organization } from '../contract/organization.ts';
import type { DeliveryStore, Next } from '../table/deliveries.ts';
import type { Delivery } from '../table/delivery-items.ts';
import { graceMs, type SweepCall, type Swept, sweep } from '../table/due.ts';
import type { SlowWebhooks } from '../table/slow-webhooks.ts';
import { traced } from '../table/trace.ts';
import type { Target, WebhookStore } from '../table/webhooks.ts';
import { type Alarm, timer } from './alarm.ts';
import { type AttemptLimits, createAttemptLimit } from './attempt-limits.ts';
import { attemptedOf, slowMs } from './attempted.ts';
import { deliveryIdOf } from './delivery-id.ts';
import type { Ladder } from './ladder.ts';
import { post } from './post.ts';
import type { Secrets } from './secrets.ts';
import type { Outcome, Sender } from './sender.ts';
import { openWaits } from './waits.ts';
import { type DeliveryQueues, openWakeUps } from './wake-ups.ts';

/** What deliveries are made of. */
export type DeliveryParts = {
  store: DeliveryStore;
  webhooks: WebhookStore & SlowWebhooks;
  queues: DeliveryQueues;
  secrets: Secrets;
  ladder: Ladder;
  limits: AttemptLimits;
  ulid: () => string;
  clock: () => number;
  alarm?: Alarm;
};

/** What happened to an item: which version of it, and the events that are told of it. */
export type Change = { organization: Organization; item: string; version: number; events: PublicEvent[] };

/** A worker has a delivery in hand for so long: an attempt's 10 s and time to write down how it ended. */
export const leaseMs = 20_000;

/** Deliveries: events on their way to webhooks (design §5). Each method may be run again at any time, in any order. */
export function openDeliveries({
  store,
  webhooks,
  queues,
  secrets,
  ladder,
  limits,
  ulid,
  clock,
  alarm = timer,
}: DeliveryParts) {
  const wakeUps = openWakeUps(queues, clock);
  const limit = createAttemptLimit(limits.prompt);

  return {
    /**
     * Puts a delivery for each webhook that hears an event of the change, then a wake-up for each that is still to be
     * made: one whose wake-up was lost with a crash in between gets another, and none gets a second delivery.
     */
    async publish(change: Change): Promise<void> {
      const deliveries = (await Promise.all(change.events.map((event) => deliveriesOf(change, event)))).flat();
      const overdueAt = timestamp(clock() + graceMs);
      const states = await Promise.all(deliveries.map((delivery) => store.put(delivery, overdueAt)));
      const waiting = deliveries.filter((_, at) => states[at] === 'pending');
      await wakeUps.send(waiting.map((delivery) => ({ delivery })));
    },

    /**
     * Makes the attempt that a message asks for, unless it was made or another worker has it. A message that is early is
     * sent again for its time. One for a slow webhook is sent to the queue of those, and so is one whose webhook has
     * shown to be slow while it waited for the others of its webhook in this container.
     *
     * @param send the guarded sender, which only those who attempt have to carry
     * @returns what was counted
     */
    async attempt(message: DeliveryMessage, send: Sender): Promise<Counts> {
      const { organization, webhookId, dueAt } = message;
      const target = await webhooks.target(organization, webhookId);
      if (message.slow) return attemptSlow(message, target, send);
      if (target?.slow && Date.parse(dueAt) <= clock()) {
        await wakeUps.toSlowQueue(message);
        return {};
      }
      if (!(await limit.start(webhookId))) {
        await wakeUps.toSlowQueue(message);
        return {};
      }
      try {
        return await attemptNow(message, target, send);
      } finally {
        limit.end(webhookId);
      }
    },

    /**
     * Wakes the deliveries that are overdue; see `lib/table/due.ts`.
     *
     * @returns also how long they have waited
     */
    async sweep(call: SweepCall): Promise<Swept & { waits: Waits }> {
      const now = clock();
      const waits = openWaits(webhooks);
      const swept = await sweep(store, { ...call, now }, async (deliveries) => {
        const free = deliveries.map((delivery) => ({ delivery, at: freeAt(delivery) }));
        await wakeUps.send(free);
        await waits.note(free.map(({ delivery, at }) => ({ delivery, lateMs: now - at })));
      });
      return { ...swept, waits: waits.longest() };
    },
  };

  /**
   * Makes an attempt from the queue of slow webhooks: with one of the webhook's leases on slow attempts, so that no
   * webhook takes all calls of that queue. Where none is free, the message is sent again for later.
   */
  async function attemptSlow(message: DeliveryMessage, target: Target | undefined, send: Sender): Promise<Counts> {
    if (!target) return attemptNow(message, target, send);
    const free = freeLease(target, message);
    if (free !== undefined) return attemptNow(message, target, send, free);
    await wakeUps.toSlowQueue(message, clock() + waitMs(message));
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

  /**
   * Makes an attempt, unless it was made or another worker has it.
   *
   * @param slowLease the number of the lease on slow attempts that it needs; absent: none
   */
  async function attemptNow(
    message: DeliveryMessage,
    target: Target | undefined,
    send: Sender,
    slowLease?: number,
  ): Promise<Counts> {
    const { organization, webhookId, attempt } = message;
    const lease = { claim: randomUUID(), now: timestamp(clock()), until: timestamp(clock() + leaseMs) };
    const claim = await store.claim({ organization, webhookId, id: message.deliveryId }, attempt, lease);
    if (!claim) return {};
    if ('early' in claim) {
      await wakeUps.send([{ delivery: claim.early }]);
      return {};
    }
    const delivery = claim.claimed;
    if (!target) {
      await store.skip(delivery, 'webhook_deleted');
      return {};
    }
    const leased =
      slowLease === undefined ||
      (await webhooks.leaseSlowAttempt(organization, webhookId, { ...lease, number: slowLease }));
    if (!leased) {
      // Another worker was sooner. No worker can make the attempt before the claim of this one has expired.
      await wakeUps.toSlowQueue(message, Date.parse(lease.until));
      return {};
    }
    return carryOut(delivery, target, watched(delivery, target, send), slowLease);
  }

  /** Posts a delivery that this worker has claimed, and writes down how that ended and what follows. */
  async function carryOut(delivery: Delivery, target: Target, send: Sender, slowLease?: number): Promise<Counts> {
    const { organization, webhookId, id: deliveryId, attempt, event, data } = delivery;
    const context = { organization, webhook: webhookId };
    const outcome = await post({ deliveryId, event, data: JSON.parse(data) }, target, context, {
      secrets,
      clock,
      send,
    });
    const endedAt = clock();
    const next = nextAfter(attempt, outcome, endedAt);
    const id = attempt === 1 ? deliveryId : `dlv_${ulid()}`;
    const attempted = attemptedOf({ id, deliveryId, attempt, event }, outcome, endedAt);
    await store.end(delivery, next, { ...attempted, slowLease });
    if (next.state === 'retrying') await wakeUps.send([{ delivery: { ...delivery, ...next } }]);
    return { AttemptsDelivered: next.state === 'delivered' ? 1 : 0 };
  }

  /**
   * A sender that marks the webhook as slow as soon as the post has lasted 2 s: until its end many others would start,
   * and each holds up a call of its queue.
   */
  function watched({ organization, webhookId }: Delivery, target: Target, send: Sender): Sender {
    return async (one) => {
      let marked: Promise<void> | undefined;
      const stop = alarm(() => {
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

  /** The deliveries of an event: one for each webhook that hears it and was registered when it happened. */
  async function deliveriesOf(
    { organization, item, version }: Change,
    { event, data }: PublicEvent,
  ): Promise<Delivery[]> {
    const changedAt = Date.parse(data.occurredAt);
    const hearing = await webhooks.hearing(organization, event);
    return hearing
      .filter((webhookId) => timeOf(ulidOf(webhookId)) <= changedAt)
      .map((webhookId) => ({
        organization,
        webhookId,
        id: deliveryIdOf(changedAt, { item, version, event, webhookId }),
        event,
        ...traced(),
        data: JSON.stringify(data),
        state: 'pending',
        attempt: 1,
        // Due since the change itself, so that a worker whose clock is a little behind does not find it early.
        nextAttemptAt: data.occurredAt,
      }));
  }

  /** An end, or the ladder's next step after a failure (specification, "Events", rule 1). */
  function nextAfter(attempt: number, { error }: Outcome, endedAt: number): Next {
    if (error === undefined) return { state: 'delivered' };
    const wait = ladder[attempt - 1];
    if (wait === undefined) return { state: 'exhausted' };
    const at = endedAt + wait;
    return {
      state: 'retrying',
      attempt: attempt + 1,
      nextAttemptAt: timestamp(at),
      dueAt: timestamp(at + graceMs),
    };
  }
}

/** When a worker could take a delivery in hand: once it is due, and nobody else has it. */
function freeAt({ nextAttemptAt, leaseUntil }: Delivery): number {
  return Math.max(Date.parse(nextAttemptAt), leaseUntil ? Date.parse(leaseUntil) : 0);
}
