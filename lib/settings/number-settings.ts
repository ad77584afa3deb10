import { highestStepLimits } from '../contract/agents/step-limits.ts';
import { environment } from '../names/environment.ts';

/**
 * A setting that is a whole number from 1. Its row is the only statement of its bounds: the settings file of a stack, the
 * environment variables of functions, and the local service all check by it, and a test compares the documentation.
 */
export type NumberSetting = {
  /** The environment variable of functions. */
  variable: string;
  /** The highest value; the lowest is 1. */
  most: number;
  /** The unit, if the value is a duration. */
  unit?: 'days' | 'minutes';
  /** The value of a deployment that sets none; absent if there is no limit without the setting. */
  standard?: number;
};

/** The settings of functions that are whole numbers, by their names in the settings file. */
export const numberSettings = {
  responseDays: { variable: environment.responseDays, most: 90, unit: 'days', standard: 7 },
  failingDays: { variable: environment.failingDays, most: 80, unit: 'days', standard: 5 },
  runningCap: { variable: environment.runningCap, most: 999_999, standard: 50 },
  waitingLimitMinutes: { variable: environment.waitingLimit, most: 1_440, unit: 'minutes', standard: 60 },
  executionSteps: { variable: environment.executionSteps, most: highestStepLimits.steps, standard: 20 },
  executionTokens: {
    variable: environment.executionTokens,
    most: highestStepLimits.tokens,
    standard: 200_000,
  },
  executionMinutes: { variable: environment.executionMinutes, most: 60, unit: 'minutes', standard: 10 },
  /** No organization can reach a million in a minute. */
  requestsPerMinute: { variable: environment.requestsPerMinute, most: 1_000_000 },
  executionsPerMinute: { variable: environment.executionsPerMinute, most: 1_000_000 },
  callsOutPerMinute: { variable: environment.callsOutPerMinute, most: 1_000_000 },
  dailyTokens: { variable: environment.dailyTokens, most: 1_000_000_000_000 },
} as const satisfies Record<string, NumberSetting>;

/** The name of such a setting. */
export type NumberSettingName = keyof typeof numberSettings;

/**
 * The number of waits in a retry schedule, and the highest of each in seconds. The lowest is 1: a wait of 0 would make all attempts at once,
 * and what a receiver misses for longer than a day is sent again by a recovery.
 */
export const retryWaits = { count: 3, most: 86_400 } as const;

/** The environment variables of a deployment. */
type Variables = Readonly<Record<string, string | undefined>>;

/**
 * Reads a setting from the environment variables of a deployment. An empty value is an unset one.
 *
 * @returns the default if the variable is unset
 * @throws Error for a value that is not a whole number within the bounds
 */
export function readNumber(row: NumberSetting & { standard: number }, variables: Variables): number;
export function readNumber(row: NumberSetting, variables: Variables): number | undefined;
export function readNumber({ variable, most, unit, standard }: NumberSetting, variables: Variables) {
  const { [variable]: text } = variables;
  if (!text) return standard;
  if (!/^[1-9]\d{0,14}$/.test(text) || Number(text) > most)
    throw new Error(
      `${variable} is ${JSON.stringify(text)}; set it to a whole number${unit ? ` of ${unit}` : ''} from 1 to ${most}.`,
    );
  return Number(text);
}
