import { PassThrough } from 'node:stream';
import { expect, vi } from 'vitest';
import { apiErrorText } from '../../../../infra/cli/api/api-errors.ts';
import { createApiProgram } from '../../../../infra/cli/api/api-program.ts';
import { type Result, runInProcess } from '../in-process.ts';

/** The variables that a user of the tests may have set. */
const unset = {
  CREWBOARD_URL: undefined,
  CREWBOARD_TOKEN: undefined,
  CREWBOARD_DATA: undefined,
  WEBHOOK_SECRET: undefined,
};

/**
 * Runs a command that calls the API in the process of the test.
 *
 * @param variables the environment of the command, besides the environment of the test
 */
export function crewboard(args: string[], variables: Record<string, string> = {}): Promise<Result> {
  const program = createApiProgram('Use Crewboard', 'npx crewboard tasks list');
  return runInProcess(program, apiErrorText, args, { ...unset, ...variables });
}

/** The functions that run commands on a service. */
export function commandsOf({ url, token }: { url: string; token: string }) {
  const run = (...args: string[]) => crewboard(args, { CREWBOARD_URL: url, CREWBOARD_TOKEN: token });
  /** Runs a command that must succeed, and returns its standard output. */
  const output = async (...args: string[]) => {
    const { code, stdout, stderr } = await run(...args);
    expect([code, stderr]).toEqual([0, '']);
    return stdout.trimEnd();
  };
  /** Runs a command that must succeed, and returns the JSON that it prints. */
  const json = async (...args: string[]) => JSON.parse(await output(...args, '--json'));
  /** Runs a command that must fail by an error response, and returns its message without the request id. */
  const messageOf = async (...args: string[]) => {
    const { code, stdout, stderr } = await run(...args);
    expect([code, stdout]).toEqual([1, '']);
    const [, message = ''] = /^([\s\S]+)\nRequest id: [\w-]+\n$/.exec(stderr) ?? [];
    return message;
  };
  return { run, output, json, messageOf };
}

/** Runs a command on a terminal, on which somebody types a text, or ends the input with ''. */
export async function onTerminal<Ended>(typed: string, act: () => Promise<Ended>): Promise<Ended> {
  const input = Object.assign(new PassThrough(), { isTTY: true });
  const stdin = vi.spyOn(process, 'stdin', 'get').mockReturnValue(input as never);
  const former = Object.getOwnPropertyDescriptor(process.stderr, 'isTTY');
  Object.defineProperty(process.stderr, 'isTTY', { value: true, configurable: true });
  input.end(typed);
  try {
    return await act();
  } finally {
    stdin.mockRestore();
    Reflect.deleteProperty(process.stderr, 'isTTY');
    if (former) Object.defineProperty(process.stderr, 'isTTY', former);
  }
}
