import { expect, it } from 'vitest';
import { variablesReadBy } from '../../scripts/function-variables.ts';

/** Returns a bundle of one module beside the module of the context, which names every property. */
const bundleOf = (code: string) => `import "x";

// lib/settings/number-settings.ts
var numberSettings = { runningCap: { variable: environment.runningCap } };

// lib/context/context.ts
function createContext(variables) {
  return { runningCap: readNumber(numberSettings.runningCap, variables), retrySchedule: read(environment.retryLadder) };
}

// lib/tasks/tasks.ts
${code}

// functions/kanban-tasks/get-task.ts
var handler = serve(getTask);
`;

it.each([
  ['a property of the context', 'if (context.runningCap > 1) go();', ['runningCap']],
  ['a property that is taken out of the context', 'function f({ table, runningCap }) {}', ['runningCap']],
  [
    'one that is renamed',
    'const { executionLimits: limits } = context;',
    ['executionMinutes', 'executionSteps', 'executionTokens'],
  ],
  ['a variable by its name', 'const key = variables[environment.secretsKeyId];', ['secretsKeyId']],
  ['nothing in a comment', '/** See context.runningCap. */\n  // context.runningCap\nfunction f() {}', []],
  ['nothing by a longer name', 'context.runningCaps = 1;', []],
])('a function reads %s', (_, code, names) => {
  expect(variablesReadBy(bundleOf(code))).toEqual([...names, 'tableName'].sort());
});

it('a function without a context has no table', () => {
  expect(variablesReadBy('// functions/open/health.ts\nvar handler = 1;\n')).toEqual([]);
});
