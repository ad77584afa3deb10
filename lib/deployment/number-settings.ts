import { highestStepLimits } from '../contract/agents.ts';
import { environment } from './environment.ts';

/**
 * A setting that is a whole number. Its row is the only statement of its bounds: the settings file of a stack, the
 * environment variables of functions, and the local service all check by it, and a test compares the documentation.
 */
export type NumberSetting = {
  /** The environment variable of functions. */
  variable: string;
  /** The lowest and the highest value. */
  least: number;
  most: number;
  /** The unit, if the value is a duration. */
  unit?: 'days' | 'minutes';
  /** The value of a deployment that sets none; absent if there is no limit without the setting. */
  standard?: number;
};

/** The settings of functions that are whole numbers, by their names in the settings file. */
export const numberSettings = {
  responseDays: { variable: environment.responseDays, least: 1, most: 90, unit: 'days', standard: 7 },
  failingDays: { variable: environment.failingDays, least: 1, most: 80, unit: 'days', standard: 5 },
  runningCap: { variable: environment.runningCap, least: 1, most: 999_999, standard: 50 },
  waitingLimitMinutes: { variable: environment.waitingLimit, least: 1, most: 1_440, unit: 'minutes', standard: 60 },
  executionSteps: { variable: environment.executionSteps, least: 1, most: highestStepLimits.steps, standard: 20 },
  executionTokens: {
    variable: environment.executionTokens,
    least: 1,
    most: highestStepLimits.tokens,
    standard: 200_000,
  },
  executionMinutes: { variable: environment.executionMinutes, least: 1, most: 60, unit: 'minutes', standard: 10 },
  /** No organization can reach a million in a minute. */
  requestsPerMinute: { variable: environment.requestsPerMinute, least: 1, most: 1_000_000 },
  executionsPerMinute: { variable: environment.executionsPerMinute, least: 1, most: 1_000_000 },
  dailyTokens: { variable: environment.dailyTokens, least: 1, most: 1_000_000_000_000 },
} as const satisfies Record<string, NumberSetting>;

/** The name of such a setting. */
export type NumberSettingName = keyof typeof numberSettings;

/**
 * The number of waits in a retry schedule, and the bounds of each in seconds: a wait of 0 would make all attempts at once,
 * and what a receiver misses for longer than a day is sent again by a recovery.
 */
export const retryWaits = { count: 3, least: 1, most: 86_400 } as const;

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
export function readNumber({ variable, least, most, unit, standard }: NumberSetting, variables: Variables) {
  const { [variable]: text } = variables;
  if (!text) return standard;
  if (!/^[1-9]\d{0,14}$/.test(text) || Number(text) < least || Number(text) > most)
    throw new Error(
      `${variable} is ${JSON.stringify(text)}; set it to a whole number${unit ? ` of ${unit}` : ''} from ${least} to ${most}.`,
    );
  return Number(text);
}
