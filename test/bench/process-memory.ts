import { readFileSync } from 'node:fs';
import { processesBelow } from './process-cpu.ts';

/** Reads the resident memory in MiB from `/proc/PID/smaps_rollup`: all of it, or with a share of pages that others share. */
export function residentFrom(rollup: string, field: 'Rss' | 'Pss'): number {
  return Number(new RegExp(`^${field}: +(\\d+) kB$`, 'm').exec(rollup)?.[1]) / 1024;
}

/** The resident memory (RSS) of a process of this user now, in MiB. */
export function residentOf(pid: number): number {
  return residentFrom(rollupOf(pid), 'Rss');
}

/** The resident memory of a process and all below it now, in MiB: pages that they share count once (PSS). */
export function residentOfTree(root: number): number {
  const pids = [root, ...processesBelow(root).map(({ pid }) => pid)];
  return pids.reduce((sum, pid) => sum + residentFrom(rollupOf(pid), 'Pss'), 0);
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

function rollupOf(pid: number): string {
  return readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
}
