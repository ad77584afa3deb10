import { timeOf, timestamp, ulidOf } from '../../contract/ids.ts';
import type { DeliveryMessage } from '../../names/messages.ts';
import type { BatchingContext } from '../../table/access/batchers.ts';
import type { DeliveryOfWebhook } from '../../table/deliveries/redeliveries.ts';
import { type LoggedEvent, readEvents, subscribedTimeOf, taskFieldsOfEvent } from '../../table/events/event-log.ts';
import { readSubscribers, receives } from '../../table/webhooks/subscriptions.ts';
import { deliveryIdOf } from '../attempts/derived-ids.ts';

/**
 * Returns the messages of an event's first attempts: one for each webhook that was subscribed before the event, whose filter
 * at that time matches its task, and which the event is not about. An event has the same messages each time, except for webhooks that were deleted or
 * are no longer subscribed.
 */
export async function readFirstAttempts(context: BatchingContext, event: LoggedEvent): Promise<DeliveryMessage[]> {
  const at = subscribedTimeOf(event);
  const subscribers = await readSubscribers(context, event.organization, event.event);
  return subscribers
    .filter((subscriber) => receives(subscriber, event.item, at, () => taskFieldsOfEvent(event)))
    .map(({ id }) => firstAttemptOf(event, id));
}

/** Returns the message of the first attempt to deliver an event to a webhook. */
export function firstAttemptOf(
  { organization, id: eventId, event, item, version, requestId }: Omit<LoggedEvent, 'data'>,
  webhookId: string,
): DeliveryMessage {
  const changedAt = timeOf(ulidOf(eventId));
  return {
    organization,
    webhookId,
    deliveryId: deliveryIdOf(changedAt, { item, version, event, webhookId }),
    eventId,
    attempt: 1,
    dueAt: timestamp(changedAt),
    ...(requestId && { requestId }),
  };
}

/** Returns the event of a delivery without attempts; `undefined` if there is no such delivery. */
export async function readWaitingEvent(
  context: BatchingContext,
  { organization, webhookId, deliveryId }: DeliveryOfWebhook,
): Promise<LoggedEvent | undefined> {
  const time = timeOf(ulidOf(deliveryId));
  for await (const event of readEvents(context, organization, time, time)) {
    const messages = await readFirstAttempts(context, event);
    if (messages.some((message) => message.webhookId === webhookId && message.deliveryId === deliveryId)) return event;
  }
  return undefined;
}
