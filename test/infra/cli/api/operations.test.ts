import { globSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { operations } from '../../../../lib/client/operations.ts';

/** The operations that no command calls, each with the command that does the same, or the reason. */
const withoutCommand: Record<string, string> = {
  health: 'It is for monitoring.',
  listAgentExecutions: 'executions list --agent',
  updateSoul: 'agents edit --soul',
};

const sources = globSync(['infra/cli/api/**/*.ts', 'infra/cli/listen/*.ts']).map((file) => readFileSync(file, 'utf8'));
const isCalled = (name: string) => sources.some((source) => new RegExp(`\\.${name}\\b`).test(source));

it('a command calls each operation of the API', () => {
  const others = Object.keys(operations).filter((name) => !isCalled(name));
  expect(others.sort()).toEqual(Object.keys(withoutCommand).sort());
});
