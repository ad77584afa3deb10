import { ApiError, notFound } from '../contract/errors.ts';
import type { Organization } from '../contract/organization.ts';
import type { Redelivery } from '../contract/webhooks/webhooks.ts';
import type { BatchingContext } from '../table/access/batchers.ts';
import { retryOnConflict } from '../table/access/transact.ts';
import { insertLostAttempt } from '../table/deliveries/parked-attempts.ts';
import {
  type DeliveryOfWebhook,
  expectedRunMs,
  insertRedelivery,
  readDeliveryProgress,
  replaceableInMs,
  waitingRetryOf,
} from '../table/deliveries/redeliveries.ts';
import { readEvent, subscribedTimeOf } from '../table/events/event-log.ts';
import type { RecordResponse } from '../table/idempotency.ts';
import { isPausedAt, webhookPaused } from '../table/webhooks/pauses.ts';
import { readWebhook } from '../table/webhooks/webhooks.ts';
import { firstAttemptLostAt, isFirstAttemptLost } from './deliveries/check-events.ts';
import { firstAttemptOf, readWaitingEvent } from './deliveries/first-attempts.ts';

/**
 * Stores a redelivery: one more attempt of a delivery that has ended, the attempt that replaces its next retry, or the first
 * attempt of one whose message is lost. No message is sent here. The stream has the new item, and its message is sent at once;
 * the sweeper finds it within a minute if not.
 *
 * @throws `ApiError` `not_found` if the webhook has no such delivery, for a test event, and if the event is no longer
 *   stored; `webhook_paused`; `delivery_in_progress` if an attempt of the delivery is due soon or running
 */
export async function redeliverDelivery(
  context: BatchingContext & { clock: () => number },
  organization: Organization,
  { webhookId, deliveryId }: Omit<DeliveryOfWebhook, 'organization'>,
  recordResponse: RecordResponse,
): Promise<Redelivery> {
  const delivery = { organization, webhookId, deliveryId };
  const redeliveryOf = (attempt: number): Redelivery => ({ deliveryId, state: 'pending', attempt });
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
      if (isRecovered) throw deliveryInProgress();
      const now = context.clock();
      if (!(await isFirstAttemptLost(context, webhook, first)))
        throw deliveryInProgress(firstAttemptLostAt(webhook, first) - now);
      const redelivery = redeliveryOf(1);
      await insertLostAttempt(context, first, recordResponse?.(redelivery));
      return redelivery;
    }
    // The attempt of a test event, and of a version before the event log, names no event.
    const eventId = (last?.eventId ?? next?.eventId) as string | undefined;
    if (eventId === undefined || !(await readEvent(context, organization, eventId))) throw notFound('delivery');
    if (!last) throw deliveryInProgress();
    const waitMs = next ? replaceableInMs(last, context.clock()) : 0;
    if (waitMs > 0) throw deliveryInProgress(waitMs);
    const attempt = last.attempt as number;
    const redelivery = redeliveryOf(attempt + 1);
    const retry = next && waitingRetryOf(last);
    await insertRedelivery(context, delivery, { attempt, eventId, retry }, recordResponse?.(redelivery));
    return redelivery;
  });
}

/** @param waitMs after which time the request can succeed, in milliseconds */
function deliveryInProgress(waitMs = expectedRunMs): ApiError {
  return new ApiError(
    'delivery_in_progress',
    'An attempt of this delivery is running, was just made, or is due soon; retry after the time in Retry-After.',
    [],
    { 'Retry-After': String(Math.max(1, Math.ceil(waitMs / 1000))) },
  );
}
