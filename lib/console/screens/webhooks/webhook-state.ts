import type { DeliveryRecord, Webhook } from '../../../client/operations.ts';

/** The state of a webhook: paused, or active, or failing if its newest attempt has failed. */
export type WebhookState = 'active' | 'paused' | 'failing';

/** Returns the state of a webhook. */
export function stateOf({ active }: Webhook, lastAttemptFailed: boolean): WebhookState {
  if (!active) return 'paused';
  return lastAttemptFailed ? 'failing' : 'active';
}

/** The interval between two reads of the newest attempts, in milliseconds: attempts, unlike tasks, have no events. */
export const attemptsIntervalMs = 30_000;

/** An hour of a health strip: the numbers of attempts, or `undefined` if they are not known. */
export type Hour =
  | { startsAt: number; delivered: number; failed: number }
  | { startsAt: number; delivered?: undefined };

const hourMs = 3_600_000;

/**
 * Returns the attempts of the last 24 hours by hour, the oldest hour first.
 *
 * @param newest the newest attempts, newest first
 * @param isComplete whether there are no earlier attempts; if there are, the hours before the oldest one are not known
 */
export function hoursOf(newest: readonly DeliveryRecord[], isComplete: boolean, now: number): Hour[] {
  const last = Math.floor(now / hourMs) * hourMs;
  const oldest = newest.at(-1);
  const knownFrom = isComplete || !oldest ? 0 : Date.parse(oldest.deliveredAt);
  return Array.from({ length: 24 }, (_, at) => {
    const startsAt = last - (23 - at) * hourMs;
    const endsAt = startsAt + hourMs;
    if (endsAt <= knownFrom) return { startsAt };
    const inHour = newest.filter(({ deliveredAt }) => {
      const time = Date.parse(deliveredAt);
      return time >= startsAt && time < endsAt;
    });
    const failed = inHour.filter(({ error }) => error !== undefined).length;
    return { startsAt, delivered: inHour.length - failed, failed };
  });
}

/** Returns the numbers of attempts in hours as text, and whether there are earlier ones that were not read. */
export function sumOf(hours: readonly Hour[]): string {
  const known = hours.flatMap((hour) => (hour.delivered === undefined ? [] : [hour]));
  const sum = (part: 'delivered' | 'failed') => known.reduce((total, hour) => total + hour[part], 0);
  const numbers = `${sum('delivered')} delivered, ${sum('failed')} failed`;
  return known.length < hours.length ? `Newest 100: ${numbers}` : numbers;
}

/** How long before the end of its first failed attempt an event may have occurred, in milliseconds. */
const attemptMs = 300_000;

/**
 * Returns the time since when a webhook may have missed events, if its deliveries fail or the service has paused it.
 * Recoveries compare the times of events, which are earlier than those of their attempts.
 */
export function missedSince({ active, disabledAt, failingSince }: Webhook): string | undefined {
  if (!active && disabledAt === undefined) return undefined;
  const at = failingSince ?? disabledAt;
  return at && new Date(Date.parse(at) - attemptMs).toISOString();
}
