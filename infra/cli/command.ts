import { Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import * as v from 'valibot';
import { ApiError } from '../../lib/contract/errors.ts';
import { Organization } from '../../lib/contract/organization.ts';
import { runWithRequest } from '../../lib/request-context.ts';
import { Problem } from '../local/problem.ts';
import { isOfAws, wordsFor } from './stack/aws-errors.ts';

/**
 * A command of the program, with what all of them have.
 *
 * @param summary what it does, as the list of commands says it; its own help does too, unless it is given a description
 * @param examples as they are typed, each with all that it needs
 */
export function command(name: string, summary: string, ...examples: string[]): Command {
  return new Command(name)
    .summary(summary)
    .description(`${summary}.`)
    .helpOption('-h, --help', 'show this')
    .helpCommand(false)
    .showHelpAfterError('Add --help to see what there is.')
    .addHelpText('after', ['\nExamples:', ...examples.map((example) => `  ${example}`)].join('\n'));
}

/** Runs the program: what it answers goes to standard output, what is wrong to standard error, without a stack trace. */
export async function runProgram(program: Pick<Command, 'parseAsync'>): Promise<void> {
  try {
    await runWithRequest({}, () => program.parseAsync());
  } catch (thrown) {
    // A table that cannot be reached says why in the cause, which an operator can act on.
    const error = thrown instanceof ApiError && isOfAws(thrown.cause) ? thrown.cause : thrown;
    const expected = error instanceof Problem || error instanceof ApiError;
    console.error(expected ? error.message : isOfAws(error) ? `AWS: ${wordsFor(error)}` : error);
    process.exitCode = 1;
  }
}

/** `--org`, which must be given. */
export function organizationOption(description = 'the organization') {
  return new Option('--org <name>', description).argParser(readOrganization).makeOptionMandatory();
}

/** `--stack`, of commands that work on this machine as well. */
export function stackOption() {
  return new Option('--stack <name>', 'the stack in AWS (default: the service that runs on this machine)');
}

/** `--table`, of commands that need no more of a deployment than its table. */
export function tableOption() {
  return new Option('--table <name>', 'a table in AWS instead, such as a restored one');
}

/** Reads a whole number from 1 on, written plainly. */
export function wholeNumber(most: number): (given: string) => number {
  return (given) => {
    if (!/^[1-9]\d*$/.test(given) || Number(given) > most)
      throw new InvalidArgumentError(`It must be a whole number from 1 to ${most}.`);
    return Number(given);
  };
}

/** Reads what a schema of the contract takes. */
export function readBy<const Schema extends v.GenericSchema<string, string>>(schema: Schema) {
  return (given: string): v.InferOutput<Schema> => {
    const { success, output, issues } = v.safeParse(schema, given);
    if (!success) throw new InvalidArgumentError(`It ${issues[0].message}.`);
    return output;
  };
}

const readOrganization = readBy(Organization);
