import { readFileSync } from 'node:fs';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { expect, it } from 'vitest';
import { program } from '../../infra/cli/program.ts';
import { scopes } from '../../lib/contract/endpoint.ts';
import { firstColumnOf, sectionOf } from './markdown.ts';

const page = readFileSync('docs/command-line.md', 'utf8');

/** Returns the commands without subcommands, each with its path. */
function leavesOf(command: CommandUnknownOpts, path: string[] = []): { name: string; command: CommandUnknownOpts }[] {
  if (command.commands.length === 0) return [{ name: path.join(' '), command }];
  return command.commands.flatMap((one) => leavesOf(one, [...path, one.name()]));
}

it.each(leavesOf(program))('the page names the command $name', ({ name, command }) => {
  const given = command.registeredArguments.map((argument) => argument.name().toUpperCase()).join(' ');
  const isApi = command.options.some(({ long }) => long === '--url' || long === '--forward-to');
  expect(page).toContain(isApi && given ? `\`${name} ${given}\`` : `\`${name}\``);
});

it('the page names only existing options', () => {
  const options = leavesOf(program).flatMap(({ command }) => command.options.map(({ long }) => long));
  const named = [...page.matchAll(/(?<= |`)--[a-z][a-z-]*/g)].map(([option]) => option);
  const ofNpm = ['--silent', '--help'];
  expect(named.filter((option) => !options.includes(option) && !ofNpm.includes(option))).toEqual([]);
});

it('the page lists all scopes', () => {
  const listed = firstColumnOf(sectionOf(page, '### Scopes of an access token'));
  expect(listed).toEqual(scopes.map((scope) => `\`${scope}\``));
});
