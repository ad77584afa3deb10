import { environment } from './environment.ts';
/** What an organization may do in a minute. */
export type Limits = {
  /** Requests, whatever they are answered, from 1. */
  requestsPerMinute: number;
  /** Executions that are started, by `executeAgent` and by `delegateTask`, from 1. */
  executionsPerMinute: number;
};

/** The limits of a stack in AWS that sets none. */
export const standardLimits: Limits = { requestsPerMinute: 1_200, executionsPerMinute: 120 };

/** The highest limit that can be set, which no organization reaches. */
export const highestLimit = 1_000_000;

/**
 * Reads the limits of a deployment from its environment variables. A limit that is not set does not hold.
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

/** The policies that responses name: `requests` by the token bucket of an organization, `executions` by clock minutes. */
export type LimitPolicy = 'requests' | 'executions';

/**
 * The response headers of draft-ietf-httpapi-ratelimit-headers-10: `RateLimit-Policy` has the quota of a minute,
 * `RateLimit` what remains of it.
 *
 * @param remaining how many may follow at once
 * @param seconds until there is more; the draft wants `remaining / seconds` to be no faster than the policy allows
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
