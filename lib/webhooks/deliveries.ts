import { randomUUID } from 'node:crypto';
import type { PublicEvent } from '../contract/events.ts';
import { timeOf, timestamp, ulidOf } from '../contract/ids.ts';
import type { DeliveryMessage } from '../contract/messages.ts';
import type { Organization } from '../contract/organization.ts';
import type { Queue, Waiting } from '../sqs/queue.ts';
import { longestDelaySeconds } from '../sqs/queue.ts';
import type { DeliveryStore } from '../table/deliveries.ts';
import type { Delivery } from '../table/delivery-items.ts';
import { graceMs, sweep } from '../table/due.ts';
import type { WebhookStore } from '../table/webhooks.ts';
import { deliveryIdOf } from './delivery-id.ts';
import type { Secrets } from './secrets.ts';
import type { Outcome, Post, Sender } from './sender.ts';
import { deliveryHeaders } from './signature.ts';

/** What deliveries are made of. */
export type DeliveryParts = {
  store: DeliveryStore;
  webhooks: WebhookStore;
  queue: Queue<DeliveryMessage>;
  secrets: Secrets;
  ulid: () => string;
  clock: () => number;
};

/** What happened to an item: which version of it, and the events that are told of it. */
export type Change = { organization: Organization; item: string; version: number; events: PublicEvent[] };

/** A worker has a delivery in hand for so long: an attempt's 10 s and time to write down how it ended. */
const leaseMs = 20_000;

/** Deliveries: events on their way to webhooks (design §5). Each method may be run again at any time, in any order. */
export function openDeliveries({ store, webhooks, queue, secrets, ulid, clock }: DeliveryParts) {
  const wakeUp = (delivery: Delivery, at = Date.parse(delivery.nextAttemptAt)): Waiting<DeliveryMessage> => {
    const { organization, webhookId, id: deliveryId, attempt, nextAttemptAt: dueAt } = delivery;
    const delaySeconds = Math.min(longestDelaySeconds, Math.max(0, Math.ceil((at - clock()) / 1000)));
    return { message: { organization, webhookId, deliveryId, attempt, dueAt }, delaySeconds };
  };

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
      await queue.send(waiting.map((delivery) => wakeUp(delivery)));
    },

    /**
     * Makes the attempt that a wake-up asks for, unless it was made, is not due or is in another's hand.
     *
     * @param send the guarded sender, which only those who attempt have to carry
     */
    async attempt({ organization, webhookId, deliveryId, attempt }: DeliveryMessage, send: Sender): Promise<void> {
      const lease = { claim: randomUUID(), now: timestamp(clock()), until: timestamp(clock() + leaseMs) };
      const delivery = await store.claim({ organization, webhookId, id: deliveryId }, attempt, lease);
      if (!delivery) return;
      const target = await webhooks.target(organization, webhookId);
      if (!target) return store.skip(delivery, 'webhook_deleted');
      const secret = target.sealed && (await secrets.open(target.sealed, { organization, webhook: webhookId }));
      const outcome = await send(signed(delivery, target.url, secret));
      // The place of the retry ladder: until then one failure ends a delivery.
      await store.end(
        delivery,
        outcome.error === undefined ? 'delivered' : 'exhausted',
        attemptedNow(delivery, outcome),
      );
    },

    /** Wakes the deliveries that are overdue at a moment, and answers how many; see `lib/table/due.ts`. */
    sweep: (until: number): Promise<number> =>
      sweep(store, { until, now: clock() }, (deliveries) =>
        queue.send(deliveries.map((delivery) => wakeUp(delivery, freeAt(delivery)))),
      ),
  };

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
        data: JSON.stringify(data),
        state: 'pending',
        attempt: 1,
        // Due since the change itself, so that a worker whose clock is a little behind does not find it early.
        nextAttemptAt: data.occurredAt,
      }));
  }

  /** Each attempt is signed afresh: a receiver that refuses old timestamps must not refuse every retry. */
  function signed({ event, id: deliveryId, data }: Delivery, url: string, secret: string | undefined): Post {
    const sentAt = clock();
    const body = JSON.stringify({ event, deliveryId, timestamp: timestamp(sentAt), data: JSON.parse(data) });
    return { url, headers: deliveryHeaders({ event, deliveryId, sentAt, body }, secret), body };
  }

  function attemptedNow({ id: deliveryId, attempt, event }: Delivery, { httpStatus, durationMs, error }: Outcome) {
    const endedAt = clock();
    const record = {
      id: attempt === 1 ? deliveryId : `dlv_${ulid()}`,
      deliveryId,
      attempt,
      event,
      httpStatus,
      durationMs,
      deliveredAt: timestamp(endedAt),
      redelivery: attempt > 1,
      ...(error !== undefined && { error }),
    };
    return { record, endedAt };
  }
}

/** When a worker could take a delivery in hand: once it is due, and nobody else has it. */
function freeAt({ nextAttemptAt, leaseUntil }: Delivery): number {
  return Math.max(Date.parse(nextAttemptAt), leaseUntil ? Date.parse(leaseUntil) : 0);
}
