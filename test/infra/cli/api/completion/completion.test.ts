import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { placesOf } from '../../../../../infra/cli/api/completion/places.ts';
import { bashScript, zshScript } from '../../../../../infra/cli/api/completion/scripts.ts';
import { program } from '../../../../../infra/cli/program.ts';
import { crewboard } from '../crewboard.ts';

const hasZsh = spawnSync('zsh', ['-c', 'true']).status === 0;

/** The scripts with all commands of the repository. */
const bash = bashScript('crewboard', placesOf(program));
const zsh = zshScript('crewboard', placesOf(program));

/** Runs a script in a shell without the settings of its user, and returns the lines that it prints. */
function linesOf(shell: string, options: string[], script: string): string[] {
  const { stdout, stderr } = spawnSync(shell, [...options, '-c', script], { encoding: 'utf8' });
  expect(stderr).toBe('');
  return stdout.split('\n').slice(0, -1);
}

/** Returns a word in quotes for a shell. */
const quoted = (word: string) => `'${word}'`;

/** Returns what bash offers for the last word of a command line. */
function offeredByBash(...words: string[]): string[] {
  const line = ['crewboard', ...words];
  const act = `COMP_WORDS=(${line.map(quoted).join(' ')}); COMP_CWORD=${words.length}; _crewboard`;
  return linesOf(
    'bash',
    ['--norc'],
    `${bash}\n${act}\n[[ \${#COMPREPLY[@]} == 0 ]] || printf '%s\\n' "\${COMPREPLY[@]}"`,
  );
}

/** Returns what zsh offers for the last word of a command line. zsh itself drops what does not begin like the word. */
function offeredByZsh(...words: string[]): string[] {
  const line = ['crewboard', ...words];
  // The words, with what they mean after a colon.
  const functions = `compdef() { :; }
    _describe() { print -rl -- "\${(@P)2}"; }
    compadd() { print -rl -- "\${(@P)2}"; }`;
  const act = `words=(${line.map(quoted).join(' ')}); CURRENT=${line.length}; _crewboard`;
  const lines = linesOf('zsh', ['-f'], `${functions}\n${zsh}\n${act}`);
  const offered = lines.filter(Boolean).map((one) => one.replace(/:.*/, ''));
  return offered.filter((one) => one.startsWith(words.at(-1) ?? ''));
}

describe.each([
  ['bash', offeredByBash, false],
  ['zsh', offeredByZsh, !hasZsh],
] as const)('in %s', (_, offered, isAbsent) => {
  it.skipIf(isAbsent)('offers commands, and their subcommands', () => {
    expect(offered('')).toEqual(program.commands.map((command) => command.name()));
    expect(offered('ta')).toEqual(['tasks']);
    expect(offered('webhooks', 're')).toEqual(['resume', 'redeliver', 'recover', 'recoveries']);
    expect(offered('dead-letters', 'l')).toEqual(['list']);
  });

  it.skipIf(isAbsent)('offers the options of a command, also after arguments and other options', () => {
    expect(offered('tasks', 'delete', '--y')).toEqual(['--yes']);
    expect(offered('tasks', 'delete', 'tk_1', '--json', '--')).toEqual([
      '--url',
      '--token',
      '--json',
      '--yes',
      '--help',
    ]);
    expect(offered('--v')).toEqual(['--version']);
    // A former name of a command has the same options.
    expect(offered('agents', 'set', '--auto-r')).toEqual(offered('agents', 'edit', '--auto-r'));
  });

  it.skipIf(isAbsent)('offers the known values of options and arguments, and nothing for unknown values', () => {
    expect(offered('tasks', 'list', '--status', 'b')).toEqual(['backlog']);
    expect(offered('agents', 'metrics', 'builder', '--period', '')).toEqual(['7d', '30d', '90d']);
    expect(offered('tasks', 'move', 'tk_1', 'u')).toEqual(['up_for_review']);
    expect(offered('tasks', 'move', '--claim-id', 'cl_1', 'tk_1', 'u')).toEqual(['up_for_review']);
    expect(offered('tasks', 'move', '')).toEqual([]);
    expect(offered('tasks', 'list', '--agent', '')).toEqual([]);
    expect(offered('completion', '')).toEqual(['bash', 'zsh']);
  });

  it.skipIf(isAbsent)('takes the value of an option for no command', () => {
    expect(offered('tasks', 'search', '--agent', 'list', '--w')).toEqual([]);
    expect(offered('tasks', '--url', 'list', 'c')).toEqual([]);
  });
});

it('says in zsh what commands and options mean', () => {
  const described = (text: string) => zsh.includes(text);
  expect(described(`'delete:Delete a webhook'`)).toBe(true);
  expect(described(`'--yes:do not ask; without a terminal the command needs it'`)).toBe(true);
});

it('prints only the script, without operators in the package, and names the known shells', async () => {
  const { code, stdout, stderr } = await crewboard(['completion', 'bash']);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^# Completes crewboard in bash\.\n/);
  expect(stdout).not.toContain('dead-letters');
  const unknown = await crewboard(['completion', 'fish']);
  expect(unknown).toEqual({ code: 2, stdout: '', stderr: expect.stringMatching(/Allowed choices are bash, zsh/) });
});
