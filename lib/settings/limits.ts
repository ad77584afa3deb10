import { numberSettings, readNumber } from './number-settings.ts';

/** The limits of an organization. */
export type Limits = {
  /** The number of requests in a minute, successful or not; at least 1. */
  requestsPerMinute: number;
  /** The number of calls of `executeAgent`, `delegateTask`, `rerunExecution` and `selfImproveAgent` in a minute; at least 1. */
  executionsPerMinute: number;
  /** The number of requests in a minute that call receivers or models (`callsOut`), successful or not; at least 1. */
  callsOutPerMinute: number;
  /** The number of tokens that executions and self-improvement use in a UTC day; at least 1, any number if absent. */
  dailyTokens?: number;
};

/** The limits that an organization can have of its own. */
export type OwnLimits = Omit<Limits, 'callsOutPerMinute'>;

/** The default limits of a stack in AWS. */
export const standardLimits: Limits = { requestsPerMinute: 1_200, executionsPerMinute: 120, callsOutPerMinute: 60 };

/**
 * Reads the limits of a deployment from its environment variables. An unset variable means no limit.
 *
 * @throws Error for a value that is not a whole number within the bounds of its setting
 */
export function readLimits(variables: Readonly<Record<string, string | undefined>>): Partial<Limits> {
  const requestsPerMinute = readNumber(numberSettings.requestsPerMinute, variables);
  const executionsPerMinute = readNumber(numberSettings.executionsPerMinute, variables);
  const callsOutPerMinute = readNumber(numberSettings.callsOutPerMinute, variables);
  const dailyTokens = readNumber(numberSettings.dailyTokens, variables);
  return {
    ...(requestsPerMinute !== undefined && { requestsPerMinute }),
    ...(executionsPerMinute !== undefined && { executionsPerMinute }),
    ...(callsOutPerMinute !== undefined && { callsOutPerMinute }),
    ...(dailyTokens !== undefined && { dailyTokens }),
  };
}

/** The limits of one execution. */
export type ExecutionLimits = {
  /** The number of model calls and tool calls, without the quality gates. */
  steps: number;
  /** The number of tokens after which no model call begins, except calls of the quality gates. */
  tokens: number;
  /** The time from the first lease to the deadline, in milliseconds. */
  durationMs: number;
};

/**
 * Reads the limits of an execution from the environment variables of a deployment.
 *
 * @throws Error for a value that is not a whole number within the bounds of its setting
 */
export function readExecutionLimits(variables: Readonly<Record<string, string | undefined>>): ExecutionLimits {
  return {
    steps: readNumber(numberSettings.executionSteps, variables),
    tokens: readNumber(numberSettings.executionTokens, variables),
    durationMs: readNumber(numberSettings.executionMinutes, variables) * 60_000,
  };
}

/**
 * The limit policies in responses: `requests` and `calls-out` use a token bucket for each organization, `executions` counts
 * by clock minute.
 */
export type LimitPolicy = 'requests' | 'calls-out' | 'executions';

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
