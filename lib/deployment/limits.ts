import { environment } from './environment.ts';

/** The limits of an organization per minute. */
export type Limits = {
  /** The number of requests, successful or not; at least 1. */
  requestsPerMinute: number;
  /** The number of executions started by `executeAgent` and `delegateTask`; at least 1. */
  executionsPerMinute: number;
};

/** The default limits of a stack in AWS. */
export const standardLimits: Limits = { requestsPerMinute: 1_200, executionsPerMinute: 120 };

/** The highest limit that can be set. No organization can reach it. */
export const highestLimit = 1_000_000;

/**
 * Reads the limits of a deployment from its environment variables. An unset variable means no limit.
 *
 * @throws Error for a value that is not a whole number from 1 to `highestLimit`
 */
export function readLimits(variables: Readonly<Record<string, string | undefined>>): Partial<Limits> {
  const requestsPerMinute = readLimit(environment.requestsPerMinute, variables);
  const executionsPerMinute = readLimit(environment.executionsPerMinute, variables);
  return {
    ...(requestsPerMinute !== undefined && { requestsPerMinute }),
    ...(executionsPerMinute !== undefined && { executionsPerMinute }),
  };
}

function readLimit(name: string, { [name]: text }: Readonly<Record<string, string | undefined>>): number | undefined {
  if (!text) return undefined;
  if (!/^[1-9]\d{0,6}$/.test(text) || Number(text) > highestLimit)
    throw new Error(`${name} is ${JSON.stringify(text)}; set it to a whole number from 1 to ${highestLimit}.`);
  return Number(text);
}

/** The number of executions of an organization that may run at the same time, in a deployment that sets none. */
const standardRunningCap = 50;

/**
 * Reads how many executions of an organization may run at the same time; 50 if it is not set.
 *
 * @throws Error for a value that is not a whole number from 1 to 999999
 */
export function readRunningCap(text: string | undefined): number {
  if (text === undefined) return standardRunningCap;
  if (!/^[1-9]\d{0,5}$/.test(text))
    throw new Error(`RUNNING_CAP is ${JSON.stringify(text)}; set it to a whole number from 1 to 999999.`);
  return Number(text);
}

const standardWaitingMinutes = 60;

/**
 * Reads how long an execution may wait for its first worker, and returns it in milliseconds; an hour if it is not set.
 *
 * @param text whole minutes
 * @throws Error for a value that is not a whole number from 1 to 1440
 */
export function readWaitingLimit(text: string | undefined): number {
  const minutes = text === undefined ? standardWaitingMinutes : /^[1-9]\d{0,3}$/.test(text) ? Number(text) : Number.NaN;
  if (!(minutes <= 1_440))
    throw new Error(
      `WAITING_LIMIT_MINUTES is ${JSON.stringify(text)}; set it to a whole number of minutes from 1 to 1440.`,
    );
  return minutes * 60_000;
}

/**
 * The limit policies in responses: `requests` uses a token bucket for each organization, `executions` counts by clock
 * minute.
 */
export type LimitPolicy = 'requests' | 'executions';

/**
 * Returns the response headers of draft-ietf-httpapi-ratelimit-headers-10: `RateLimit-Policy` has the quota per minute,
 * `RateLimit` the remaining quota.
 *
 * @param remaining the remaining quota
 * @param seconds the time until more quota is available; the draft requires that `remaining / seconds` is not above the
 *   rate of the policy
 */
export function limitHeaders(
  policy: LimitPolicy,
  { perMinute, remaining, seconds }: { perMinute: number; remaining: number; seconds: number },
): Record<string, string> {
  return {
    'RateLimit-Policy': `"${policy}";q=${perMinute};w=60`,
    RateLimit: `"${policy}";r=${remaining};t=${seconds}`,
  };
}
