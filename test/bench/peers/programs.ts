import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Bench } from '../bench.ts';

/** The folder of the project for programs that only the benchmark needs. Git ignores it. */
const folder = '.peers';

/**
 * Returns the folders in which programs and packages of npm are searched, in this order.
 *
 * @param searchPath the value of `PATH`
 */
export function programFolders(searchPath: string): string[] {
  const own = ['bin', 'node_modules/.bin', 'node_modules'].map((name) => join(process.cwd(), folder, name));
  // Debian installs these outside of the PATH. The rabbitmq-server on its PATH changes the user.
  const ofDebian = ['/usr/lib/rabbitmq/bin', ...globSync('/usr/lib/postgresql/*/bin')];
  return [...own, ...ofDebian, ...searchPath.split(delimiter)];
}

/** Finds programs by their names, each in the first folder that has it; `missing` are the names of the others. */
export function findPrograms<Name extends string>(
  names: readonly Name[],
  folders: readonly string[],
): { paths: Record<Name, string>; missing: Name[] } {
  const found = names.map((name) => [name, folders.map((one) => join(one, name)).find(existsSync)] as const);
  return {
    paths: Object.fromEntries(found) as Record<Name, string>,
    missing: found.flatMap(([name, path]) => (path ? [] : [name])),
  };
}

/** The start of a program: its arguments, its output when it is ready, and its user. */
type Start = { args?: readonly string[]; env: NodeJS.ProcessEnv; cwd: string; ready: RegExp; uid?: number };

/**
 * Starts a program, which SIGINT stops when the benchmark ends, and waits until it is ready.
 *
 * @returns its process id
 * @throws Error with its output if it ends before
 */
export async function startProgram(
  bench: Bench,
  path: string,
  { args = [], ready, ...options }: Start,
): Promise<number> {
  const child = spawn(path, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  bench.atEnd(async () => {
    if (child.exitCode === null && child.signalCode === null && child.kill('SIGINT')) await once(child, 'exit');
  });
  await new Promise<void>((resolve, reject) => {
    let output = '';
    const read = (text: Buffer) => {
      output += text;
      if (ready.test(output)) resolve();
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.once('error', reject);
    // After all of its output.
    child.once('close', (code) => reject(new Error(`${path} ended with code ${code}:\n${output}`)));
  });
  // The rest of its output is its log.
  for (const stream of [child.stdout, child.stderr]) stream.removeAllListeners('data').resume();
  return child.pid as number;
}
