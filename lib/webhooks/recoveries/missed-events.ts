import { type EventName, eventNames } from '../../contract/events.ts';
import type { Organization } from '../../contract/organization.ts';
import type { MissedKind } from '../../contract/recoveries.ts';
import type { DeliveryMessage } from '../../deployment/messages.ts';
import type { BatchingContext, Subscriber } from '../../table/batchers.ts';
import { deliveryStateOf, isBegun } from '../../table/deliveries/delivery-state.ts';
import { type LoggedEvent, subscribedTimeOf, taskFieldsOfEvent } from '../../table/deliveries/event-log.ts';
import { readSubscribers, receives } from '../../table/deliveries/subscriptions.ts';
import { isMatch } from '../../table/deliveries/task-filters.ts';
import type { StoredWebhook } from '../../table/deliveries/webhooks.ts';
import { type DeliveryRows, type FoundDelivery, readDelivery } from '../../table/recoveries/delivery-rows.ts';
import type { StoredRecovery } from '../../table/recoveries/recoveries.ts';
import { isFirstAttemptLost } from '../deliveries/check-events.ts';
import { firstAttemptOf } from '../deliveries/first-attempts.ts';

/** The events that a recovery sends. */
export type Wanted = Pick<StoredRecovery, 'events' | 'include'>;

/** A webhook with its subscriptions by event. */
export type SubscribedWebhook = { webhook: StoredWebhook; subscriptions: ReadonlyMap<EventName, Subscriber> };

/** The part of an event that decides whether it was missed, with the fields of its task. */
export type WalkedEvent = Omit<LoggedEvent, 'data'>;

/** The delivery of an event: the message of its first attempt, its attempts, and its kind if it is to be sent. */
export type Missed = {
  first: DeliveryMessage;
  delivery: FoundDelivery;
  kind: MissedKind | undefined;
  lost: boolean;
};

/** Returns the part of an event that decides whether it was missed, without its data. */
export function walkedEvent(event: LoggedEvent): WalkedEvent {
  const { data: _, ...walked } = event;
  const taskFields = taskFieldsOfEvent(event);
  return { ...walked, ...(taskFields && { taskFields }) };
}

/** Reads the subscriptions of a webhook. */
export async function readSubscriptions(
  context: BatchingContext,
  organization: Organization,
  webhook: StoredWebhook,
): Promise<SubscribedWebhook> {
  const subscribers = await Promise.all(eventNames.map((event) => readSubscribers(context, organization, event)));
  const own = eventNames.flatMap((event, at) => {
    const subscriber = subscribers[at]?.find(({ id }) => id === webhook.id);
    return subscriber ? [[event, subscriber] as const] : [];
  });
  return { webhook, subscriptions: new Map(own) };
}

/**
 * Reads the delivery of an event, and returns it with its kind if the webhook has missed the event and it is wanted. `lost`
 * says that the message of its first attempt is lost, and may still arrive.
 */
export async function readMissed(
  context: BatchingContext & { clock: () => number },
  to: SubscribedWebhook,
  { events, include }: Wanted,
  event: WalkedEvent,
  found: DeliveryRows,
): Promise<Missed | undefined> {
  if (events && !events.includes(event.event)) return undefined;
  const first = firstAttemptOf(event, to.webhook.id);
  const delivery = await readDelivery(context, found, first);
  const missed = missedKindOf(to, event, delivery);
  if (missed !== 'not attempted')
    return { first, delivery, kind: missed && include.includes(missed) ? missed : undefined, lost: false };
  const lost = include.includes('never_sent') && (await isFirstAttemptLost(context, to.webhook, first));
  return { first, delivery, kind: lost ? 'never_sent' : undefined, lost };
}

/**
 * Returns why a webhook has not received an event; `undefined` if it was delivered, if a further attempt is due or running,
 * for an event that the webhook never was subscribed to, and for one that its filter leaves out. The first attempt of an
 * event that was `not attempted` is due, running or lost. Events from before a subscription are compared with the current
 * filter, others with the filter at their time.
 */
function missedKindOf(
  { webhook, subscriptions }: SubscribedWebhook,
  walked: WalkedEvent,
  delivery: FoundDelivery,
): MissedKind | 'not attempted' | undefined {
  const { event, taskFields } = walked;
  const time = subscribedTimeOf(walked);
  const state = deliveryStateOf(delivery, webhook, time);
  if (isBegun(delivery)) return state === 'exhausted' ? state : undefined;
  const subscription = subscriptions.get(event);
  if (!subscription) return undefined;
  if (subscription.since > time) return isMatch(webhook.taskFilter, () => taskFields) ? 'never_sent' : undefined;
  if (!receives(subscription, time, () => taskFields)) return undefined;
  return state === 'skipped' ? state : 'not attempted';
}
