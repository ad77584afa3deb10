import type { Organization } from '../../contract/organization.ts';
import type { EventName } from '../../contract/webhooks/events.ts';
import type { LeftOutReason, MissedKind } from '../../contract/webhooks/recoveries.ts';
import type { DeliveryMessage } from '../../names/messages.ts';
import type { BatchingContext } from '../../table/access/batchers.ts';
import type { Item } from '../../table/access/write.ts';
import { deliveryStateOf, isBegun } from '../../table/deliveries/delivery-state.ts';
import { replaceableInMs } from '../../table/deliveries/redeliveries.ts';
import { type LoggedEvent, subscribedTimeOf, taskFieldsOfEvent } from '../../table/events/event-log.ts';
import { type DeliveryRows, type FoundDelivery, readDelivery } from '../../table/recoveries/delivery-rows.ts';
import type { StoredRecovery } from '../../table/recoveries/recoveries.ts';
import { readSubscribers, receives, type Subscriber } from '../../table/webhooks/subscriptions.ts';
import { isMatch } from '../../table/webhooks/task-filters.ts';
import type { StoredWebhook } from '../../table/webhooks/webhooks.ts';
import { isFirstAttemptLost } from '../deliveries/check-events.ts';
import { firstAttemptOf } from '../deliveries/first-attempts.ts';

/** The events that a recovery sends. */
export type Wanted = Pick<StoredRecovery, 'events' | 'include' | 'missedFrom'>;

/** A webhook with its subscriptions by event. */
export type SubscribedWebhook = { webhook: StoredWebhook; subscriptions: ReadonlyMap<EventName, Subscriber> };

/** The part of an event that decides whether it was missed, with the fields of its task. */
export type WalkedEvent = Omit<LoggedEvent, 'data'>;

/** Whether an event is sent: the kind of a missed one, or why it is left out. */
type Outcome = { kind: MissedKind; leftOut?: undefined } | { kind?: undefined; leftOut: LeftOutReason };

/** The delivery of an event: the message of its first attempt, its attempts, and whether it is to be sent. */
export type Missed = Outcome & {
  first: DeliveryMessage;
  delivery: FoundDelivery;
  /** Whether the message of the first attempt is lost, and may still arrive. */
  lost: boolean;
};

/** Returns the part of an event that decides whether it was missed, without its data. */
export function walkedEvent(event: LoggedEvent): WalkedEvent {
  const { data, ...walked } = event;
  const taskFields = taskFieldsOfEvent(event);
  return { ...walked, ...(taskFields && { taskFields }) };
}

/** Reads the subscriptions of a webhook. */
export async function readSubscriptions(
  context: BatchingContext,
  organization: Organization,
  webhook: StoredWebhook,
): Promise<SubscribedWebhook> {
  const { events } = webhook;
  const subscribers = await Promise.all(events.map((event) => readSubscribers(context, organization, event)));
  const own = events.flatMap((event, at) => {
    const subscriber = subscribers[at]?.find(({ id }) => id === webhook.id);
    return subscriber ? [[event, subscriber] as const] : [];
  });
  return { webhook, subscriptions: new Map(own) };
}

/** Reads the delivery of an event, and returns whether the webhook has missed the event and it is to be sent. */
export async function readMissed(
  context: BatchingContext & { clock: () => number },
  to: SubscribedWebhook,
  wanted: Wanted,
  event: WalkedEvent,
  found: DeliveryRows,
): Promise<Missed> {
  const first = firstAttemptOf(event, to.webhook.id);
  const delivery = await readDelivery(context, found, first);
  const decided = decideMissed(to, event, delivery, context.clock());
  const lost = decided === 'not attempted' && (await isFirstAttemptLost(context, to.webhook, first));
  const outcome: Outcome =
    decided === 'not attempted' ? (lost ? { kind: 'never_sent' } : { leftOut: 'inProgress' }) : decided;
  const isWanted = outcome.kind === undefined || matches(wanted, event, outcome.kind, delivery);
  return { first, delivery, lost, ...(isWanted ? outcome : { leftOut: 'notIncluded' as const }) };
}

/** Returns whether a missed event is a wanted one. */
function matches(
  { events, include, missedFrom = 0 }: Wanted,
  event: WalkedEvent,
  kind: MissedKind,
  { rows }: FoundDelivery,
): boolean {
  if (!include.includes(kind) || events?.includes(event.event) === false) return false;
  const lastEnd = rows.at(-1)?.deliveredAt as string | undefined;
  return (lastEnd === undefined ? subscribedTimeOf(event) : Date.parse(lastEnd)) >= missedFrom;
}

/**
 * Decides whether a webhook has missed an event. The first attempt of an event that was `not attempted` is due, running or lost.
 * Events from before a subscription are compared with the current filter, others with the filter at their time.
 *
 * @param now Unix time, in ms
 */
function decideMissed(
  { webhook, subscriptions }: SubscribedWebhook,
  walked: WalkedEvent,
  delivery: FoundDelivery,
  now: number,
): Outcome | 'not attempted' {
  const { event, taskFields } = walked;
  const time = subscribedTimeOf(walked);
  const state = deliveryStateOf(delivery, webhook, time);
  if (isBegun(delivery)) {
    if (state === 'delivered') return { leftOut: 'delivered' };
    if (state === 'exhausted') return { kind: 'exhausted' };
    const isReplaceable = state === 'retrying' && replaceableInMs(delivery.rows.at(-1) as Item, now) === 0;
    return isReplaceable ? { kind: 'retrying' } : { leftOut: 'inProgress' };
  }
  const subscription = subscriptions.get(event);
  // An event about a webhook is not sent to it.
  if (!subscription || walked.item === webhook.id) return { leftOut: 'notSubscribed' };
  if (subscription.since > time)
    return isMatch(webhook.taskFilter, () => taskFields) ? { kind: 'never_sent' } : { leftOut: 'filtered' };
  if (!receives(subscription, walked.item, time, () => taskFields)) return { leftOut: 'filtered' };
  return state === 'skipped' ? { kind: 'skipped' } : 'not attempted';
}
