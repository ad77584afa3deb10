import type { AttemptHour, Webhook } from '../../../client/operations.ts';

/** The state of a webhook: paused, or active, or failing if its newest attempt has failed. */
export type WebhookState = 'active' | 'paused' | 'failing';

/** Returns the state of a webhook. */
export function stateOf({ active }: Webhook, lastAttemptFailed: boolean): WebhookState {
  if (!active) return 'paused';
  return lastAttemptFailed ? 'failing' : 'active';
}

/** The highest maximum of attempts per second. The contract has it too, but the console does not import schemas. */
export const highestRate = 1_000;

/** The interval between two reads of the numbers of attempts, in milliseconds: attempts, unlike tasks, have no events. */
export const attemptsIntervalMs = 30_000;

/** An hour of a health strip: the numbers of attempts, or `undefined` if they are not known. */
export type Hour =
  | { startsAt: number; delivered: number; failed: number; failures: string }
  | { startsAt: number; delivered?: undefined };

const hourMs = 3_600_000;

/**
 * Returns the attempts of the last 24 hours, the oldest hour first.
 *
 * @param read the hours that the service knows, the current hour last; fewer than 24 after an upgrade
 */
export function hoursOf(read: readonly AttemptHour[], now: number): Hour[] {
  const known = read.map(hourFrom);
  const next = known[0]?.startsAt ?? Math.floor(now / hourMs + 1) * hourMs;
  const missing = 24 - known.length;
  const unknown = Array.from({ length: missing }, (_, at) => ({ startsAt: next - (missing - at) * hourMs }));
  return [...unknown, ...known];
}

function hourFrom({ startsAt, status2xx, status3xx, status4xx, status5xx, noResponse }: AttemptHour): Hour {
  const classes: [number, string][] = [
    [status3xx, '3xx'],
    [status4xx, '4xx'],
    [status5xx, '5xx'],
    [noResponse, 'no response'],
  ];
  const failures = classes
    .filter(([number]) => number > 0)
    .map(([number, name]) => `${number.toLocaleString('en')} × ${name}`);
  const failed = status3xx + status4xx + status5xx + noResponse;
  return { startsAt: Date.parse(startsAt), delivered: status2xx, failed, failures: failures.join(', ') };
}

/** Returns numbers of attempts as text. */
export function numbersOf(delivered: number, failed: number): string {
  return `${delivered.toLocaleString('en')} delivered, ${failed.toLocaleString('en')} failed`;
}

/** Returns the numbers of attempts in hours as text, and how many of the hours they cover. */
export function sumOf(hours: readonly Hour[]): string {
  const known = hours.flatMap((hour) => (hour.delivered === undefined ? [] : [hour]));
  const sum = (part: 'delivered' | 'failed') => known.reduce((total, hour) => total + hour[part], 0);
  if (known.length === 0) return 'Not known yet';
  const numbers = numbersOf(sum('delivered'), sum('failed'));
  return known.length < hours.length ? `Last ${known.length} h: ${numbers}` : numbers;
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
