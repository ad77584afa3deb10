import { ApiError, notFound } from '../contract/errors.ts';
import type { Organization } from '../contract/organization.ts';
import type { Redelivery } from '../contract/webhooks.ts';
import type { BatchingContext } from '../table/batchers.ts';
import { readEvent, subscribedTimeOf } from '../table/deliveries/event-log.ts';
import { insertLostAttempt } from '../table/deliveries/parked-attempts.ts';
import { isPausedAt, webhookPaused } from '../table/deliveries/pauses.ts';
import { type DeliveryOfWebhook, insertRedelivery, readDeliveryProgress } from '../table/deliveries/redeliveries.ts';
import { readWebhook } from '../table/deliveries/webhooks.ts';
import type { RecordResponse } from '../table/idempotency.ts';
import { retryOnConflict } from '../table/transact.ts';
import { isFirstAttemptLost } from './deliveries/check-events.ts';
import { firstAttemptOf, readWaitingEvent } from './deliveries/first-attempts.ts';

/**
 * Stores a redelivery: one more attempt of a delivery that has ended, or the first attempt of one whose message is lost. No
 * message is sent here. The sweeper finds the attempt, which is due at once, and sends its message within a minute.
 *
 * @throws `ApiError` `not_found` if the webhook has no such delivery, for a test event, and if the event is no longer
 *   stored; `webhook_paused`; `delivery_in_progress` if an attempt of the delivery is due or running
 */
export async function redeliverDelivery(
  context: BatchingContext & { clock: () => number },
  organization: Organization,
  { webhookId, deliveryId }: Omit<DeliveryOfWebhook, 'organization'>,
  recordResponse: RecordResponse,
): Promise<Redelivery> {
  const delivery = { organization, webhookId, deliveryId };
  const redelivery: Redelivery = { deliveryId, state: 'pending' };
  return retryOnConflict(context.table, async () => {
    const [webhook, { last, next }] = await Promise.all([
      readWebhook(context, organization, webhookId),
      readDeliveryProgress(context, delivery),
    ]);
    if (!webhook) throw notFound('webhook');
    if (!webhook.active) throw webhookPaused();
    const waiting = next?.attempt === 1 ? await readWaitingEvent(context, delivery) : undefined;
    // A skipped event has no delivery.
    if (waiting && !isPausedAt(webhook, subscribedTimeOf(waiting))) {
      const first = firstAttemptOf(waiting, webhookId);
      // A recovery makes the first attempts that it has stored.
      const isRecovered = next?.scheduleStart !== undefined;
      if (isRecovered || !(await isFirstAttemptLost(context, webhook, first))) throw deliveryInProgress();
      await insertLostAttempt(context, first, recordResponse?.(redelivery));
      return redelivery;
    }
    // The attempt of a test event, and of a version before the event log, names no event.
    const eventId = (last?.eventId ?? next?.eventId) as string | undefined;
    if (eventId === undefined || !(await readEvent(context, organization, eventId))) throw notFound('delivery');
    if (!last || next) throw deliveryInProgress();
    await insertRedelivery(
      context,
      delivery,
      { attempt: last.attempt as number, eventId },
      recordResponse?.(redelivery),
    );
    return redelivery;
  });
}

function deliveryInProgress(): ApiError {
  return new ApiError(
    'delivery_in_progress',
    'An attempt of this delivery is running or due later; retry when the delivery has ended.',
  );
}
