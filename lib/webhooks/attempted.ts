import { timestamp } from '../contract/ids.ts';
import type { DeliveryRecord } from '../contract/webhooks.ts';
import type { Attempted } from '../table/deliveries.ts';
import type { Outcome } from './sender.ts';

/**
 * What is written down of an attempt: its record in the history.
 *
 * @param endedAt milliseconds since 1970
 */
export function attemptedOf(
  { id, deliveryId, attempt, event }: Pick<DeliveryRecord, 'id' | 'deliveryId' | 'attempt' | 'event'>,
  { httpStatus, durationMs, error }: Outcome,
  endedAt: number,
): Attempted {
  const record = {
    id,
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
