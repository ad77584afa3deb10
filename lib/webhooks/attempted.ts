import { timestamp } from '../contract/ids.ts';
import type { DeliveryRecord } from '../contract/webhooks.ts';
import type { Attempted } from '../table/deliveries.ts';
import type { Outcome } from './sender.ts';

/** A receiver that was slow counts as quick again when it answers within so long. */
const quickMs = 2_000;

/**
 * What is written down of an attempt: its record in the history, and whether it shows its receiver to be slow.
 *
 * @param endedAt milliseconds since 1970
 */
export function attemptedOf(
  { id, deliveryId, attempt, event }: Pick<DeliveryRecord, 'id' | 'deliveryId' | 'attempt' | 'event'>,
  outcome: Outcome,
  endedAt: number,
): Attempted {
  const { httpStatus, durationMs, error } = outcome;
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
  return { record, endedAt, slow: isSlow(outcome) };
}

/** Slow when it took all the time there is, quick again when it answered soon; in between nothing changes. */
function isSlow({ timedOut, httpStatus, durationMs }: Outcome): boolean | undefined {
  if (timedOut) return true;
  return httpStatus > 0 && durationMs < quickMs ? false : undefined;
}
