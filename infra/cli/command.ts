import { type ParseArgsConfig, parseArgs } from 'node:util';
import * as v from 'valibot';
import { Organization } from '../../lib/contract/organization.ts';
import { Refusal } from '../../lib/contract/refusals.ts';
import { Problem } from '../local/problem.ts';
import { isOfAws, wordsFor } from './aws-faults.ts';

/** Runs a command: what it answers goes to standard output, what is wrong to standard error, without a stack trace. */
export function runCommand(main: (args: string[]) => Promise<string>): void {
  main(process.argv.slice(2)).then(
    (text) => console.log(text),
    (error: unknown) => {
      const expected = error instanceof Problem || error instanceof Refusal;
      console.error(expected ? error.message : isOfAws(error) ? `AWS: ${wordsFor(error)}` : error);
      process.exitCode = 1;
    },
  );
}

/**
 * Reads the arguments of a command.
 *
 * @throws `Problem` with the usage for an option that there is not
 */
export function readArguments<const Options extends NonNullable<ParseArgsConfig['options']>>(
  args: string[],
  options: Options,
  usage: string,
) {
  try {
    return parseArgs({ args, options, allowPositionals: true });
  } catch (error) {
    throw new Problem(`${(error as Error).message}\n${usage}`);
  }
}

/**
 * The organization that `--org` names.
 *
 * @throws `Problem` where it is missing, or cannot be one
 */
export function organizationOf(given: string | undefined, usage: string): Organization {
  if (given === undefined) throw new Problem(`--org is missing.\n${usage}`);
  const { success, output, issues } = v.safeParse(Organization, given);
  if (!success) throw new Problem(`--org ${issues[0].message}.`);
  return output;
}
