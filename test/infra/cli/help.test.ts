import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { describe, expect, it } from 'vitest';
import { program } from '../../../infra/cli/program.ts';

/** Returns a command and all its subcommands, each with its path. */
function withSubcommands(
  command: CommandUnknownOpts,
  path: string[] = [],
): { path: string[]; command: CommandUnknownOpts }[] {
  return [{ path, command }, ...command.commands.flatMap((one) => withSubcommands(one, [...path, one.name()]))];
}
const commands = withSubcommands(program).map((one) => ({ ...one, name: ['crewboard', ...one.path].join(' ') }));

function helpOf(command: CommandUnknownOpts): string {
  const parts: string[] = [];
  command.configureOutput({ writeOut: (part) => void parts.push(part), getOutHelpWidth: () => 1000 });
  command.outputHelp();
  return parts.join('');
}

/** Returns the command of an example, and its arguments. */
function parseExample(example: string): { path: string[]; args: string[] } {
  const [, line = ''] = /^ {2}npm run --silent crewboard -- (.+)$/.exec(example) ?? [];
  const words = line.split(' ');
  const found = commands.filter(({ path }) => path.every((word, at) => words[at] === word));
  const { path = [] } = found.at(-1) ?? {};
  return { path, args: words.slice(path.length) };
}

describe.each(commands)('the help of $name', ({ path, command }) => {
  const help = helpOf(command);
  const [, examples = ''] = help.split('\nExamples:\n');

  it('starts with a sentence about the command', () => {
    expect(help).toMatch(/^Usage: .*\n\n[A-Z].*\.\n\n/);
    expect(command.summary()).toMatch(/^[A-Z].*[^.]$/);
  });

  it('describes each option, argument and subcommand', () => {
    for (const { flags, description, defaultValue } of command.options) {
      const [line = ''] = help.split('\n').filter((one) => one.startsWith(`  ${flags}`));
      expect(line).toContain(`  ${description}`);
      if (defaultValue !== undefined) expect(line).toMatch(/[( ]default: [^{[]+\)$/);
    }
    for (const argument of command.registeredArguments) expect(help).toContain(`  ${argument.description}`);
    for (const subcommand of command.commands) expect(help).toContain(`  ${subcommand.summary()}`);
  });

  it('has examples of the command with existing options', () => {
    for (const line of examples.trimEnd().split('\n')) {
      const example = parseExample(line);
      expect(example.path.slice(0, path.length)).toEqual(path);
      const options = commands.find((one) => one.path.join() === example.path.join())?.command.options ?? [];
      const known = options.flatMap(({ long, short }) => [long, short]);
      expect(known).toEqual(expect.arrayContaining(example.args.filter((arg) => arg.startsWith('-') && arg !== '-')));
    }
  });
});
