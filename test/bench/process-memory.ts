import { readFileSync } from 'node:fs';
import { processesBelow } from './process-cpu.ts';

/** Reads the resident memory (RSS) in MiB from `/proc/PID/smaps_rollup`. */
export function residentFrom(rollup: string): number {
  return Number(/^Rss: +(\d+) kB$/m.exec(rollup)?.[1]) / 1024;
}

/** The resident memory of a process of this user now, in MiB. */
export function residentOf(pid: number): number {
  return residentFrom(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'));
}

/**
 * The process of a name below another.
 *
 * @throws Error where there is none
 */
export function processNamed(name: string, root: number): number {
  const found = processesBelow(root).find(({ pid }) => readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === name);
  if (!found) throw new Error(`No process ${name} runs below ${root}.`);
  return found.pid;
}
