import type { Context } from '../../context/context.ts';
import type { DeliveryMessage } from '../../names/messages.ts';
import type { AttemptLimits } from '../../settings/attempt-limits.ts';
import { attemptLeaseMs, isLeaseOver } from '../../table/lease.ts';
import type { Target } from '../../table/webhooks/webhooks.ts';
import { randomOf } from './derived-ids.ts';

/**
 * Returns `true` when an attempt may run; `endAttempt` must follow it. An attempt above the limit of its webhook waits for
 * the others, so that a fast receiver gets many simultaneous events without the slow queue.
 *
 * @returns `false` if a running attempt of the webhook is slow
 */
export async function startAttempt(
  context: Pick<Context, 'attemptLimits' | 'webhookAttempts'>,
  webhookId: string,
): Promise<boolean> {
  const { attemptLimits, webhookAttempts } = context;
  const attempts = webhookAttempts.get(webhookId) ?? { running: 0, slow: false, waiting: [] };
  webhookAttempts.set(webhookId, attempts);
  if (attempts.slow) return false;
  if (attempts.running >= attemptLimits.normal) return new Promise((resolve) => attempts.waiting.push(resolve));
  attempts.running += 1;
  return true;
}

/** Ends an attempt; the next one that waits starts. */
export function endAttempt({ webhookAttempts }: Pick<Context, 'webhookAttempts'>, webhookId: string): void {
  const attempts = webhookAttempts.get(webhookId);
  if (!attempts) return;
  const next = attempts.waiting.shift();
  if (next) next(true);
  else attempts.running -= 1;
  if (attempts.running === 0) webhookAttempts.delete(webhookId);
}

/** Marks a running attempt as slow: no other attempt of its webhook starts until all that run have ended. */
export function markAttemptSlow({ webhookAttempts }: Pick<Context, 'webhookAttempts'>, webhookId: string): void {
  const attempts = webhookAttempts.get(webhookId);
  if (!attempts) return;
  attempts.slow = true;
  for (const start of attempts.waiting.splice(0)) start(false);
}

/** Returns whether a running attempt of this process has marked its webhook as slow; see `markAttemptSlow`. */
export function isKnownSlow({ webhookAttempts }: Pick<Context, 'webhookAttempts'>, webhookId: string): boolean {
  return webhookAttempts.get(webhookId)?.slow === true;
}

/** Returns whether the attempts of a webhook wait for one another: its receiver is slow, or it has a maximum rate. */
export function mayWait({ slow, maxPerSecond }: Pick<Target, 'slow' | 'maxPerSecond'>): boolean {
  return slow || maxPerSecond !== undefined;
}

/**
 * Returns the number of a lease that seems free; `undefined` if none is. Many deliveries choose at the same time, so the random
 * end of the delivery id decides among the free leases.
 *
 * @param now Unix time, in ms
 */
export function freeLeaseOf(
  limits: Pick<AttemptLimits, 'slow'>,
  target: Target,
  { deliveryId }: Pick<DeliveryMessage, 'deliveryId'>,
  now: number,
): number | undefined {
  const numbers = Array.from({ length: limits.slow }, (_, number) => number);
  const free = numbers.filter((number) => {
    const until = target.slowLeases[number];
    return until === undefined || isLeaseOver(Date.parse(until), now, attemptLeaseMs);
  });
  return free[randomOf(deliveryId) % free.length];
}
