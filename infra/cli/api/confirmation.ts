import { createInterface } from 'node:readline/promises';
import { Option } from '@commander-js/extra-typings';
import { printJson } from '../json.ts';
import { singleLine } from '../printable.ts';
import { CommandFailure } from '../run-program.ts';
import type { Reporter } from './connection.ts';

/** Returns the option `--yes` of commands that delete. */
export function yesOption() {
  return new Option('--yes', 'do not ask; without a terminal the command needs it');
}

/**
 * Asks on the terminal whether to delete something. Returns if the answer is yes, and at once with `--yes`. Without a terminal,
 * where nobody can answer, the missing option is a wrong usage.
 *
 * @param describe returns what is to be deleted, such as `the task tk_… "Draw it"`; it is called only to ask
 * @throws `CommandFailure` for any other answer
 */
export async function confirmDeletion(
  { yes }: { yes?: true | undefined },
  command: Reporter,
  describe: () => Promise<string>,
): Promise<void> {
  if (yes) return;
  // The question is on standard error: standard output has results only.
  if (!process.stdin.isTTY || !process.stderr.isTTY)
    return command.error('error: There is no terminal to ask on; add --yes to delete without a question.');
  const question = `Delete ${singleLine(await describe())}? This cannot be undone. [y/N] `;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  // The end of the input, Ctrl-D, is no answer.
  const answer = await Promise.race([
    terminal.question(question),
    new Promise<string>((resolve) => terminal.once('close', () => resolve(''))),
  ]);
  terminal.close();
  if (!/^y(es)?$/i.test(answer.trim())) throw new CommandFailure('Nothing was deleted.');
}

/** Prints the end of a deletion: what was deleted, or its ids as JSON. */
export function printDeleted(what: string, ids: Record<string, string>, { json }: { json?: true | undefined }): void {
  if (json) printJson({ data: ids });
  else console.log(`Deleted ${what}.`);
}
