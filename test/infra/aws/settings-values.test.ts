import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { functionVariables } from '../../../infra/aws/functions/function-variables.ts';
import {
  parseSettings,
  type StackSettings,
  settingSchemas,
  variablesOf,
  withDefaultModel,
} from '../../../infra/aws/settings.ts';
import { createContext } from '../../../lib/context/context.ts';
import { environment } from '../../../lib/names/environment.ts';
import { numberSettings, retryWaits } from '../../../lib/settings/number-settings.ts';
import { fc } from '../../seeded.ts';
import { anySettings, anyValueOf, boundsOf } from './any-settings.ts';

/** Returns the settings of a file, and `undefined` if they are rejected. */
function read(given: Record<string, unknown>): StackSettings | undefined {
  try {
    const settings = parseSettings(given, 'settings/test.json');
    const [first] = Array.isArray(settings.allowedModels) ? settings.allowedModels : [];
    return withDefaultModel({ ...settings, defaultModel: settings.defaultModel ?? first }, 'eu-central-1');
  } catch {
    return undefined;
  }
}

/** The sets of environment variables that functions have, by their names. */
const sets = [...new Set(Object.values(functionVariables).map((names) => names.join()))].map(
  (names) => new Set(names.split(',').map((name) => environment[name as keyof typeof environment])),
);

/** Starts a function with all variables of the settings, and each function with its own, and compares what was read. */
function expectStart(settings: StackSettings): void {
  const variables = { [environment.tableName]: 'table', ...variablesOf(settings) };
  const startedWith = (given: Record<string, string>) => createContext({ environment: given, clock: () => 0 });
  for (const names of sets) {
    const own = Object.entries(variables).filter(([name]) => names.has(name as never));
    // Functions without a table have no context.
    if (names.has(environment.tableName)) startedWith(Object.fromEntries(own));
  }
  const context = startedWith(variables);
  const { requestsPerMinute, executionsPerMinute, dailyTokens } = settings;
  expect({ ...context, origins: settings.corsOrigins?.map(context.allowedOrigins) }).toMatchObject({
    defaultModel: settings.defaultModel,
    allowedModels: settings.allowedModels,
    limits: { requestsPerMinute, executionsPerMinute, ...(dailyTokens !== undefined && { dailyTokens }) },
    runningCap: settings.runningCap,
    waitingLimitMs: settings.waitingLimitMinutes * 60_000,
    executionLimits: {
      steps: settings.executionSteps,
      tokens: settings.executionTokens,
      durationMs: settings.executionMinutes * 60_000,
    },
    retrySchedule: settings.retryLadder.map((seconds) => seconds * 1_000),
    responseDays: settings.responseDays,
    failingAfterMs: settings.failingDays * 24 * 60 * 60_000,
    origins: settings.corsOrigins?.map(() => true),
  });
}

describe('a function starts with every accepted value, and reads it, of', () => {
  it.each(Object.keys(settingSchemas))('%s', (name) => {
    let accepted = 0;
    fc.assert(
      fc.property(anyValueOf(name), (given) => {
        const settings = read(given);
        if (!settings) return;
        accepted += 1;
        expectStart(settings);
      }),
      { examples: [[{}]] },
    );
    expect(accepted).toBeGreaterThan(0);
  });
});

it('a function starts with every accepted combination of settings', () => {
  const isValid = (given: Record<string, unknown>) => read(given) !== undefined;
  fc.assert(
    fc.property(anySettings(isValid), (given) => expectStart(read(given) as StackSettings)),
    { numRuns: 200 },
  );
});

describe('the documentation states the bounds of', () => {
  const [stack, machine] = ['docs/deploying.md', 'docs/local-service.md'].map((page) => readFileSync(page, 'utf8'));
  const rowOf = (page: string | undefined, name: string) =>
    page?.split('\n').find((line) => line.startsWith('| `') && line.split(' | ')[0]?.includes(`\`${name}\``));
  const numbers = Object.entries(settingSchemas).flatMap(([name, schema]) => {
    const bounds = boundsOf(schema);
    return bounds ? [[name, `${bounds.least} to ${bounds.most}`] as const] : [];
  });

  it.each(numbers)('%s: %s', (name, bounds) => {
    expect(rowOf(stack, name)).toContain(bounds);
  });

  it.each([
    ...Object.values(numberSettings).map(({ variable, most }) => [variable, `1 to ${most}`] as const),
    [environment.retryLadder, `1 to ${retryWaits.most}`] as const,
  ])('%s: %s', (variable, bounds) => {
    expect(rowOf(machine, variable)).toContain(bounds);
  });
});
