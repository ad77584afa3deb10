import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { describe, expect, it } from 'vitest';
import { program } from '../../../infra/cli/program.ts';
import manifest from '../../../package.json' with { type: 'json' };

/** A command with all that are below it, each with its path. */
function withBelow(
  command: CommandUnknownOpts,
  path: string[] = [],
): { path: string[]; command: CommandUnknownOpts }[] {
  return [{ path, command }, ...command.commands.flatMap((one) => withBelow(one, [...path, one.name()]))];
}
const commands = withBelow(program).map((one) => ({ ...one, name: ['crewboard', ...one.path].join(' ') }));

/** All that a command prints when it is asked for help. */
function helpOf(command: CommandUnknownOpts): string {
  const parts: string[] = [];
  command.configureOutput({ writeOut: (part) => void parts.push(part), getOutHelpWidth: () => 1000 });
  command.outputHelp();
  return parts.join('');
}

/** What is typed in an example, and the command that it is for. */
function typed(example: string): { path: string[]; args: string[] } {
  const [, script = '', rest = ''] = /^ {2}npm run --silent ([\w-]+) -- (.+)$/.exec(example) ?? [];
  const words = [...(script === 'crewboard' ? [] : [script]), ...rest.split(' ')];
  const found = commands.filter(({ path }) => path.every((word, at) => words[at] === word));
  const { path = [] } = found.at(-1) ?? {};
  return { path, args: words.slice(path.length) };
}

describe.each(commands)('the help of $name', ({ path, command }) => {
  const help = helpOf(command);
  const [, examples = ''] = help.split('\nExamples:\n');

  it('says what it does, in a sentence', () => {
    expect(help).toMatch(/^Usage: .*\n\n[A-Z].*\.\n\n/);
    expect(command.summary()).toMatch(/^[A-Z].*[^.]$/);
  });

  it('names each option, argument and command below, and says what it is', () => {
    for (const { flags, description, defaultValue } of command.options) {
      const [line = ''] = help.split('\n').filter((one) => one.startsWith(`  ${flags}`));
      expect(line).toContain(`  ${description}`);
      if (defaultValue !== undefined) expect(line).toMatch(/\(default: [^{[]+\)$/);
    }
    for (const argument of command.registeredArguments) expect(help).toContain(`  ${argument.description}`);
    for (const below of command.commands) expect(help).toContain(`  ${below.summary()}`);
  });

  it('has an example of it, whose options there are', () => {
    const lines = examples.trimEnd().split('\n');
    for (const line of lines) {
      const example = typed(line);
      expect(example.path.slice(0, path.length)).toEqual(path);
      const options = commands.find((one) => one.path.join() === example.path.join())?.command.options ?? [];
      const known = options.flatMap(({ long, short }) => [long, short]);
      for (const word of example.args.filter((arg) => arg.startsWith('-'))) expect(known).toContain(word);
    }
  });
});

it('every command has a script of its name, which runs it', () => {
  const scripts: Record<string, string> = manifest.scripts;
  const own = program.commands.map((command) => command.name());
  expect(own.length).toBeGreaterThan(4);
  expect(scripts.crewboard).toBe('node infra/cli/main.ts');
  for (const name of own) expect(scripts[name]).toBe(`node infra/cli/main.ts ${name}`);
});
