import { timestamp } from '../../contract/ids.ts';
import type { EventName } from '../../contract/webhooks/events.ts';
import type { DeliveryRecord } from '../../contract/webhooks/webhooks.ts';
import type { Outcome } from '../../sender/sender.ts';
import { attemptIdOf } from '../../table/deliveries/attempt-items.ts';

/** How long an attempt takes, in milliseconds, if its receiver is slow. */
export const slowMs = 2_000;

/**
 * Returns the record of an attempt in the history, and whether the attempt shows that its receiver is slow.
 *
 * @param endedAt Unix time, in ms
 */
export function attemptResultOf(
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

/** Returns `true` for a long attempt, `false` for a response that came sooner; a quick failure shows neither. */
function isSlow({ timedOut, httpStatus, durationMs }: Outcome): boolean | undefined {
  if (timedOut || durationMs >= slowMs) return true;
  return httpStatus > 0 ? false : undefined;
}
