import { vi } from 'vitest';
import { runProgram } from '../../../infra/cli/run-program.ts';

/** The end of a command: its exit code, and what it has printed. */
export type Result = { code: number; stdout: string; stderr: string };

/** A program of commands, as the parser of command lines creates it. */
type Program = { parseAsync: (args: string[], options: { from: 'user' }) => Promise<unknown> };

/**
 * Runs a command in the process of the test.
 *
 * @param messageOf returns the message of an error that users can correct
 * @param variables the environment of the command, besides the environment of the test; `undefined` unsets a variable
 */
export async function runInProcess(
  program: Program,
  messageOf: (error: unknown) => string | undefined,
  args: string[],
  variables: Record<string, string | undefined>,
): Promise<Result> {
  const result: Result = { code: 0, stdout: '', stderr: '' };
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  const record = (stream: 'stdout' | 'stderr', end: string) => (text: unknown) => {
    result[stream] += `${text}${end}`;
    return true;
  };
  const spies = [
    vi.spyOn(console, 'log').mockImplementation(record('stdout', '\n')),
    vi.spyOn(console, 'error').mockImplementation(record('stderr', '\n')),
    vi.spyOn(process.stdout, 'write').mockImplementation(record('stdout', '')),
    vi.spyOn(process.stderr, 'write').mockImplementation(record('stderr', '')),
  ];
  try {
    await runProgram({ parseAsync: () => program.parseAsync(args, { from: 'user' }) }, messageOf);
    return { ...result, code: Number(process.exitCode ?? 0) };
  } finally {
    process.exitCode = 0;
    for (const spy of spies) spy.mockRestore();
    vi.unstubAllEnvs();
  }
}
