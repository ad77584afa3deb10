import { timeOf, timestamp, ulidOf } from '../../contract/ids.ts';
import type { DeliveryMessage } from '../../deployment/messages.ts';
import type { BatchingContext } from '../../table/batchers.ts';
import type { LoggedEvent } from '../../table/deliveries/event-log.ts';
import { readSubscribers } from '../../table/deliveries/subscriptions.ts';
import { deliveryIdOf } from './derived-ids.ts';

/**
 * Returns the messages of an event's first attempts: one for each subscriber that was registered before the event. An event
 * has the same messages each time, except for webhooks that were deleted.
 */
export async function readFirstAttempts(
  context: BatchingContext,
  { organization, id: eventId, event, item, version, requestId }: LoggedEvent,
): Promise<DeliveryMessage[]> {
  const changedAt = timeOf(ulidOf(eventId));
  const subscribers = await readSubscribers(context, organization, event);
  return subscribers
    .filter((webhookId) => timeOf(ulidOf(webhookId)) <= changedAt)
    .map((webhookId) => ({
      organization,
      webhookId,
      deliveryId: deliveryIdOf(changedAt, { item, version, event, webhookId }),
      eventId,
      attempt: 1,
      dueAt: timestamp(changedAt),
      ...(requestId && { requestId }),
    }));
}
