import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Problem } from '../../infra/problem.ts';

/** The names of the program, the default Python of the machine first. */
const names = ['python3', 'python', 'python3.14', 'python3.13', 'python3.12', 'python3.11', 'python3.10'];

/** A program that succeeds if Python can create an environment. Debian has `ensurepip` in a package of its own. */
const probe = 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))';

/** Programs in Python that tests use: their description, and the file that pins them and their dependencies. */
export type PythonPrograms = { what: string; requirements: string };

/** No suitable Python is installed. */
export class NoPython extends Problem {}

/**
 * Installs programs in their own environment, again after each change of their requirements.
 *
 * @param folder the folder of the environment
 * @returns the folder of the programs
 * @throws `NoPython` if no suitable Python is installed, `Problem` if the installation fails
 */
export async function installPrograms(folder: string, { what, requirements }: PythonPrograms): Promise<string> {
  const version = createHash('sha256').update(readFileSync(requirements)).digest('hex');
  const programs = join(folder, 'bin');
  const mark = join(folder, 'installed');
  if (existsSync(mark) && readFileSync(mark, 'utf8') === version) return programs;

  const python = await findPython(what);
  rmSync(folder, { recursive: true, force: true });
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-input', '-r', requirements];
  for (const [program, args] of [[python, ['-m', 'venv', folder]] as const, [join(programs, 'python'), pip] as const]) {
    const { code, output } = await runToEnd(program, args);
    if (code !== 0) throw new Problem(`Cannot install ${what}:\n${output}`);
  }
  writeFileSync(mark, version);
  return programs;
}

async function findPython(what: string): Promise<string> {
  for (const name of names) if ((await runToEnd(name, ['-c', probe])).code === 0) return name;
  throw new NoPython(
    `To install ${what}, Python 3.10 or later with its modules venv and ensurepip is needed, and none is on the PATH. ` +
      'Install it (on Debian and Ubuntu: apt-get install python3 python3-venv).',
  );
}

/** Runs a program to its end, in the working directory of this process or another one. The code of a missing program is null. */
export function runToEnd(
  program: string,
  args: readonly string[],
  env = process.env,
  cwd?: string,
): Promise<{ code: number | null; output: string }> {
  const child = spawn(program, args, { env, cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  return new Promise((resolve) => {
    child.once('error', ({ message }) => resolve({ code: null, output: message }));
    child.once('close', (code) => resolve({ code, output }));
  });
}
