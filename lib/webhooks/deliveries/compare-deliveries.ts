import { inGroups } from '../../aws/in-groups.ts';
import { ulidOf } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import type { DeliveryMessage } from '../../names/messages.ts';
import { type BatchingContext, readInBatch } from '../../table/access/batchers.ts';
import { keys } from '../../table/access/keys.ts';
import { readNextAttempt } from '../../table/deliveries/attempt-log.ts';
import { readParkedAttempt } from '../../table/deliveries/parked-attempts.ts';
import { type LoggedEvent, readEvents, subscribedTimeOf } from '../../table/events/event-log.ts';
import { activeSince, type Pausable } from '../../table/webhooks/pauses.ts';
import { isSkipped } from '../attempts/paused-attempts.ts';
import { readFirstAttempts } from './first-attempts.ts';

/** How long after it is due an attempt counts as lost, in milliseconds. */
const lostAfterMs = 15 * 60_000;

/** The deliveries of an event. Events that a webhook skips have no delivery to it. */
type EventDeliveries = {
  deliveries: number;
  /** The next attempt of each delivery that has not ended. */
  nextAttempts: DeliveryMessage[];
  /** The webhooks of these attempts, by their ids. */
  webhooks: ReadonlyMap<string, Pausable>;
};

/** The deliveries of the events of a period. */
export type ComparedDeliveries = {
  events: number;
  deliveries: number;
  /** Attempts that are not due, or were due recently. */
  waiting: DeliveryMessage[];
  /** Attempts that were due so long ago that their messages count as lost. */
  lost: DeliveryMessage[];
};

/** How many events are compared at the same time. */
const atOnce = 100;

/**
 * Compares the event log and the subscriptions of an organization with the attempt log: every event must be delivered to
 * each webhook that was subscribed before it and still is. `from` and `to` are Unix times in ms.
 *
 * @param now decides which attempts are lost
 * @param onProgress receives the number of compared events
 */
export async function compareDeliveries(
  context: BatchingContext,
  organization: Organization,
  { from, to, now }: { from: number; to: number; now: number },
  onProgress: (events: number) => void = () => {},
): Promise<ComparedDeliveries> {
  const compared: ComparedDeliveries = { events: 0, deliveries: 0, waiting: [], lost: [] };
  for await (const some of inGroups(readEvents(context, organization, from, to), atOnce)) {
    const found = await Promise.all(some.map((event) => readEventDeliveries(context, event)));
    for (const { deliveries, nextAttempts, webhooks } of found) {
      compared.deliveries += deliveries;
      for (const message of nextAttempts) {
        const webhook = webhooks.get(message.webhookId);
        const lost = isLost(message, now, webhook) && isLost(await expectedForm(context, message), now, webhook);
        (lost ? compared.lost : compared.waiting).push(message);
      }
    }
    compared.events += some.length;
    onProgress(compared.events);
  }
  return compared;
}

/** Compares an event with the attempts to deliver it. */
async function readEventDeliveries(context: BatchingContext, event: LoggedEvent): Promise<EventDeliveries> {
  const first = await readFirstAttempts(context, event);
  const next = await Promise.all(first.map((message) => readNextAttempt(context, message)));
  const unfinished = next.filter((message) => message !== undefined);
  const webhooks = new Map(
    await Promise.all(
      unfinished.map(async ({ organization, webhookId }): Promise<[string, Pausable]> => {
        const item = await readInBatch(context, keys.webhook(organization, ulidOf(webhookId)));
        return [webhookId, item ?? {}];
      }),
    ),
  );
  const nextAttempts = unfinished.filter(
    (message) => !isSkipped(webhooks.get(message.webhookId) ?? {}, message, subscribedTimeOf(event)),
  );
  return { deliveries: first.length - (unfinished.length - nextAttempts.length), nextAttempts, webhooks };
}

/** An attempt, and the time at which it is expected if it waits for longer than until it is due. */
type ExpectedAttempt = DeliveryMessage & { waitsUntil?: string | undefined };

/** Returns an attempt with the time that it has booked, or up to which it waits for a lease, if there is one. */
async function expectedForm(context: BatchingContext, message: DeliveryMessage): Promise<ExpectedAttempt> {
  const parked = await readParkedAttempt(context, message, true);
  return parked ? { ...parked.message, waitsUntil: parked.waitsUntil } : message;
}

/**
 * Returns whether the message of an attempt counts as lost: the attempt was due or expected long ago, and its webhook has
 * been active for as long.
 */
export function isLost(
  { dueAt, bookedAt = dueAt, waitsUntil = bookedAt }: ExpectedAttempt,
  now: number,
  webhook: Pausable = {},
): boolean {
  return now - Math.max(Date.parse(waitsUntil), activeSince(webhook)) >= lostAfterMs;
}
