import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Bench } from '../bench.ts';

/** Finds programs by their names, each in the first folder that has it; `missing` are the names of the others. */
export function findPrograms<Name extends string>(
  names: readonly Name[],
  folders: readonly string[],
): { paths: Record<Name, string>; missing: Name[] } {
  const found = names.map((name) => [name, folders.map((folder) => join(folder, name)).find(existsSync)] as const);
  return {
    paths: Object.fromEntries(found) as Record<Name, string>,
    missing: found.flatMap(([name, path]) => (path ? [] : [name])),
  };
}

/** The start of a program: its arguments, its output when it is ready, and its user. */
type Start = { args?: string[]; env: NodeJS.ProcessEnv; cwd: string; ready: RegExp; uid?: number };

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
    if (child.exitCode === null && child.kill('SIGINT')) await once(child, 'exit');
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
  // What else it prints is its log.
  for (const stream of [child.stdout, child.stderr]) stream.removeAllListeners('data').resume();
  return child.pid as number;
}
