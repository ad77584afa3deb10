import type { CommandUnknownOpts } from '@commander-js/extra-typings';

/** A word that can be completed, and what it means. */
type Word = { name: string; description: string };

/** An option; `choices` are the values that it can have, if they are known, and `takesValue` says whether it has one. */
type OptionWord = Word & { takesValue: boolean; choices: readonly string[] };

/** A place in a command line: after a command, where its subcommands or its arguments and options follow. */
export type Place = {
  /** The command below the program, each of its words after a space, such as ` tasks list`; empty for the program. */
  path: string;
  commands: Word[];
  options: OptionWord[];
  /** The known values of each argument. */
  args: (readonly string[])[];
};

/** Returns the places of a program: one for it and for each of its commands. */
export function placesOf(program: CommandUnknownOpts): Place[] {
  const below = (command: CommandUnknownOpts, path: string): Place[] => [
    placeOf(command, path),
    ...command.commands.flatMap((one) => namesOf(one).flatMap((name) => below(one, `${path} ${name}`))),
  ];
  return below(program, '');
}

function placeOf(command: CommandUnknownOpts, path: string): Place {
  const options = command.options.map(({ long, short, description, required, optional, argChoices }) => ({
    name: long ?? short ?? '',
    description,
    takesValue: required || optional,
    choices: argChoices ?? [],
  }));
  return {
    path,
    commands: command.commands.map((one) => ({ name: one.name(), description: one.summary() })),
    options: [...options, { name: '--help', description: 'show the help', takesValue: false, choices: [] }],
    args: command.registeredArguments.map(({ argChoices }) => argChoices ?? []),
  };
}

const namesOf = (command: CommandUnknownOpts) => [command.name(), ...command.aliases()];
