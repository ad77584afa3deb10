import { readFileSync } from 'node:fs';
import { processesBelow } from './process-cpu.ts';

/**
 * What a process has in memory, in MiB: all its pages, and its fair share of them (Pss), where a page that several
 * processes have counts as a part for each.
 */
export type Memory = { rss: number; pss: number };

/** Reads `/proc/PID/smaps_rollup`. */
export function memoryFrom(rollup: string): Memory {
  const mebibytes = (name: string) => Number(new RegExp(`^${name}: +(\\d+) kB$`, 'm').exec(rollup)?.[1]) / 1024;
  return { rss: mebibytes('Rss'), pss: mebibytes('Pss') };
}

/** What a process of this user has in memory now. */
export function memoryOf(pid: number): Memory {
  return memoryFrom(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'));
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
