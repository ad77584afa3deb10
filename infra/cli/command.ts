import { Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import * as v from 'valibot';
import { Organization } from '../../lib/contract/organization.ts';

/**
 * Creates a command of the program with its help.
 *
 * @param summary the line in the list of commands, and the text of the command's own help unless it has a description
 * @param examples complete command lines
 */
export function command(name: string, summary: string, ...examples: string[]): Command {
  return new Command(name)
    .summary(summary)
    .description(`${summary}.`)
    .helpOption('-h, --help', 'show this help')
    .helpCommand(false)
    .exitOverride()
    .showHelpAfterError('Add --help to see the commands and options.')
    .addHelpText('after', ['\nExamples:', ...examples.map((example) => `  ${example}`)].join('\n'));
}

/** Returns the mandatory option `--org`. */
export function organizationOption(description = 'the organization') {
  return new Option('--org <name>', description).argParser(readOrganization).makeOptionMandatory();
}

/** Returns the option `--stack` of commands that also work with the service on this machine. */
export function stackOption() {
  return new Option('--stack <name>', 'the stack in AWS (default: the service that runs on this machine)');
}

/** Returns the option `--table` of commands that need only the table of a deployment. */
export function tableOption() {
  return new Option('--table <name>', 'a table in AWS instead, such as a restored one');
}

/** Returns the option `--json` of commands that list. */
export function jsonOption() {
  return new Option('--json', 'print JSON, with the result in `data`');
}

/** Returns a parser of whole numbers in decimal digits from `least`, at least 0, to `most`. */
export function wholeNumber(most: number, least = 1): (given: string) => number {
  return (given) => {
    if (!/^(0|[1-9]\d*)$/.test(given) || Number(given) < least || Number(given) > most)
      throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
    return Number(given);
  };
}

/** Returns a parser that validates by a schema of the contract. */
export function readBy<const Schema extends v.GenericSchema<string, string>>(schema: Schema) {
  return (given: string): v.InferOutput<Schema> => {
    const { success, output, issues } = v.safeParse(schema, given);
    if (!success) throw new InvalidArgumentError(`It ${issues[0].message}.`);
    return output;
  };
}

const readOrganization = readBy(Organization);
