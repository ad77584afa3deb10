import { inspect } from 'node:util';
import { CommanderError } from 'commander';

/** The exit codes of the program besides 0 (docs/command-line.md#exit-codes). */
export const exitCodes = { failed: 1, wrongUsage: 2 } as const;

/** An error that the user of a command can correct. The program prints its message only, without a stack trace. */
export class CommandFailure extends Error {
  override name = 'Failure';
}

/** Ends this process quietly if the reader of its output ends first, such as `head`. */
export function endWithReader(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit();
  });
}

/** Where a program prints its errors, and what it sets the exit code of. */
export type ErrorOutput = { printError: (text: string) => void; exit: (code: number) => void };

/** The standard error and the exit code of this process. */
export const processOutput: ErrorOutput = {
  printError: (text) => console.error(text),
  exit: (code) => {
    process.exitCode = code;
  },
};

/**
 * Runs a program. Prints messages of errors to standard error, and sets the exit code.
 *
 * @param messageOf returns the message of an error that users can correct; other errors are printed with their stack
 */
export async function runProgram(
  program: { parseAsync: () => Promise<unknown> },
  messageOf: (error: unknown) => string | undefined,
  { printError, exit }: ErrorOutput = processOutput,
): Promise<void> {
  try {
    await program.parseAsync();
  } catch (thrown) {
    // The parser has printed its message, or the help.
    if (thrown instanceof CommanderError) return exit(thrown.exitCode === 0 ? 0 : exitCodes.wrongUsage);
    printError(thrown instanceof CommandFailure ? thrown.message : (messageOf(thrown) ?? inspect(thrown)));
    exit(exitCodes.failed);
  }
}
