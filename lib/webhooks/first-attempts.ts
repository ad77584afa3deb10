import { timeOf, ulidOf } from '../contract/ids.ts';
import type { DeliveryMessage } from '../deployment/messages.ts';
import type { LoggedEvent } from '../table/event-log.ts';
import type { Subscriptions } from '../table/subscriptions.ts';
import { deliveryIdOf } from './derived-ids.ts';

/**
 * Returns the messages of an event's first attempts: one for each webhook that hears it and was registered when it
 * happened. The same event has the same messages each time, but for webhooks that were deleted.
 */
export async function firstAttempts(
  { organization, id: eventId, event, item, version, requestId }: LoggedEvent,
  webhooks: Subscriptions,
): Promise<DeliveryMessage[]> {
  const changedAt = timeOf(ulidOf(eventId));
  const hearing = await webhooks.hearing(organization, event);
  return hearing
    .filter((webhookId) => timeOf(ulidOf(webhookId)) <= changedAt)
    .map((webhookId) => ({
      organization,
      webhookId,
      deliveryId: deliveryIdOf(changedAt, { item, version, event, webhookId }),
      eventId,
      attempt: 1,
      dueAt: new Date(changedAt).toISOString(),
      ...(requestId && { requestId }),
    }));
}
