import { highestStepLimits } from '../contract/agents.ts';
import { environment } from './environment.ts';

/** The limits of an organization. */
export type Limits = {
  /** The number of requests in a minute, successful or not; at least 1. */
  requestsPerMinute: number;
  /** The number of calls of `executeAgent`, `delegateTask`, `rerunExecution` and `selfImproveAgent` in a minute; at least 1. */
  executionsPerMinute: number;
  /** The number of tokens that executions and self-improvement use in a UTC day; at least 1, any number if absent. */
  dailyTokens?: number;
};

/** The default limits of a stack in AWS. */
export const standardLimits: Limits = { requestsPerMinute: 1_200, executionsPerMinute: 120 };

/** The highest limit in a minute that can be set. No organization can reach it. */
export const highestLimit = 1_000_000;

/** The highest budget of tokens in a day that can be set. */
export const highestDailyTokens = 1_000_000_000_000;

/**
 * Reads the limits of a deployment from its environment variables. An unset variable means no limit.
 *
 * @throws Error for a value that is not a whole number from 1 to `highestLimit`, or `highestDailyTokens`
 */
export function readLimits(variables: Readonly<Record<string, string | undefined>>): Partial<Limits> {
  const requestsPerMinute = readLimit(environment.requestsPerMinute, variables);
  const executionsPerMinute = readLimit(environment.executionsPerMinute, variables);
  const dailyTokens = readLimit(environment.dailyTokens, variables, highestDailyTokens);
  return {
    ...(requestsPerMinute !== undefined && { requestsPerMinute }),
    ...(executionsPerMinute !== undefined && { executionsPerMinute }),
    ...(dailyTokens !== undefined && { dailyTokens }),
  };
}

function readLimit(
  name: string,
  { [name]: text }: Readonly<Record<string, string | undefined>>,
  highest = highestLimit,
): number | undefined {
  if (!text) return undefined;
  if (!/^[1-9]\d{0,12}$/.test(text) || Number(text) > highest)
    throw new Error(`${name} is ${JSON.stringify(text)}; set it to a whole number from 1 to ${highest}.`);
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

/** The limits of one execution. */
export type ExecutionLimits = {
  /** The number of model calls and tool calls, without the quality gates. */
  steps: number;
  /** The number of tokens after which no model call begins, except those of the quality gates. */
  tokens: number;
  /** The time from the first lease to the deadline, in milliseconds. */
  durationMs: number;
};

/** The limits of an execution in a deployment that sets none, and the highest values that it can set. */
export const standardExecutionLimits = { steps: 20, tokens: 200_000, minutes: 10 };
export const highestExecutionLimits = { ...highestStepLimits, minutes: 60 };

/**
 * Reads the limits of an execution from the environment variables of a deployment.
 *
 * @throws Error for a value that is not a whole number from 1 to the highest value
 */
export function readExecutionLimits(variables: Readonly<Record<string, string | undefined>>): ExecutionLimits {
  const read = (limit: keyof typeof standardExecutionLimits, name: string, unit: string): number => {
    const { [name]: text } = variables;
    if (!text) return standardExecutionLimits[limit];
    const highest = highestExecutionLimits[limit];
    if (!/^[1-9]\d{0,7}$/.test(text) || Number(text) > highest)
      throw new Error(`${name} is ${JSON.stringify(text)}; set it to a whole number${unit} from 1 to ${highest}.`);
    return Number(text);
  };
  return {
    steps: read('steps', environment.executionSteps, ''),
    tokens: read('tokens', environment.executionTokens, ''),
    durationMs: read('minutes', environment.executionMinutes, ' of minutes') * 60_000,
  };
}

/** The number of days for which bodies and responses of attempts are kept in a deployment that sets none. */
export const standardResponseDays = 7;

/** The highest number of days that can be set: attempts themselves are not kept longer. */
export const maxResponseDays = 90;

/**
 * Reads how many days the bodies of attempts and their responses are kept; 7 if it is not set.
 *
 * @throws Error for a value that is not a whole number from 1 to 90
 */
export function readResponseDays(text: string | undefined): number {
  if (text === undefined) return standardResponseDays;
  if (!/^[1-9]\d?$/.test(text) || Number(text) > maxResponseDays)
    throw new Error(
      `RESPONSE_DAYS is ${JSON.stringify(text)}; set it to a whole number of days from 1 to ${maxResponseDays}.`,
    );
  return Number(text);
}

const standardFailingDays = 5;
const dayMs = 24 * 60 * 60_000;

/**
 * Reads for how long all deliveries to a webhook must fail before it is paused, and returns it in milliseconds; five days
 * if it is not set.
 *
 * @param text whole days
 * @throws Error for a value that is not a whole number from 1 to 80
 */
export function readFailingDays(text: string | undefined): number {
  const days = text === undefined ? standardFailingDays : /^[1-9]\d?$/.test(text) ? Number(text) : Number.NaN;
  if (!(days <= 80))
    throw new Error(`FAILING_DAYS is ${JSON.stringify(text)}; set it to a whole number of days from 1 to 80.`);
  return days * dayMs;
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
