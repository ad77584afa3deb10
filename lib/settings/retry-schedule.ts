import { retryWaits } from './number-settings.ts';

/** The waits after the first, second and third failed attempt, in milliseconds. After the fourth there is none. */
export type RetrySchedule = readonly [number, number, number];

const minutes = (count: number) => count * 60_000;

/** The retry schedule if none is set (docs/architecture.md#retry-schedule). */
const standardRetrySchedule: RetrySchedule = [minutes(5), minutes(30), minutes(120)];

/**
 * Reads `RETRY_LADDER`: three whole numbers of seconds from 1 to 86400, separated by commas, such as
 * `300,1800,7200`. Without a value it returns the standard retry schedule.
 *
 * @throws Error for anything else
 */
export function readRetrySchedule(text: string | undefined): RetrySchedule {
  if (text === undefined) return standardRetrySchedule;
  const { count, most } = retryWaits;
  const steps = text.split(',').map((step) => step.trim());
  const isWait = (step: string) => /^[1-9]\d{0,4}$/.test(step) && Number(step) <= most;
  if (steps.length !== count || !steps.every(isWait))
    throw new Error(
      `RETRY_LADDER is ${JSON.stringify(text)}; write three whole numbers of seconds from 1 to ${most}, such as 300,1800,7200.`,
    );
  return steps.map((step) => Number(step) * 1000) as unknown as RetrySchedule;
}
