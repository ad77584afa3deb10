import type { EventName } from '../contract/events.ts';
import { timestamp } from '../contract/ids.ts';
import type { DeliveryRecord } from '../contract/webhooks.ts';
import { attemptIdOf } from '../table/attempt-items.ts';
import type { Outcome } from './sender.ts';

/** An attempt that lasts so long, in milliseconds, is slow; a receiver that answers sooner is quick again. */
export const slowMs = 2_000;

/**
 * What is written down of an attempt: its record in the history, and whether it shows its receiver to be slow.
 *
 * @param endedAt milliseconds since 1970
 */
export function attemptedOf(
  { place, event }: { place: { deliveryId: string; attempt: number; at: string }; event: EventName },
  outcome: Outcome,
  endedAt: number,
): { record: DeliveryRecord; slow: boolean | undefined } {
  const { httpStatus, durationMs, error } = outcome;
  const { deliveryId, attempt } = place;
  const record = {
    id: attemptIdOf(place),
    deliveryId,
    attempt,
    event,
    httpStatus,
    durationMs,
    deliveredAt: timestamp(endedAt),
    redelivery: attempt > 1,
    ...(error !== undefined && { error }),
  };
  return { record, slow: isSlow(outcome) };
}

/** Slow by how long it took, whatever its outcome; quick by an answer that came sooner. A quick failure says neither. */
function isSlow({ timedOut, httpStatus, durationMs }: Outcome): boolean | undefined {
  if (timedOut || durationMs >= slowMs) return true;
  return httpStatus > 0 ? false : undefined;
}
