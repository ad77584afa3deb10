import { readdirSync, readFileSync } from 'node:fs';

/** A process by `/proc/PID/stat`. `cpuMs` is its user and system time so far. */
type Process = { pid: number; parent: number; cpuMs: number };

/** The unit of CPU time in `/proc`, in milliseconds: Linux counts hundredths of a second on every machine. */
const tickMs = 10;

/** Reads a line of `/proc/PID/stat`. The name is in brackets, and can contain brackets and spaces. */
function processFrom(stat: string): Process {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [parent, user, system] = [fields[1], fields[11], fields[12]].map(Number) as [number, number, number];
  return { pid: Number.parseInt(stat, 10), parent, cpuMs: (user + system) * tickMs };
}

/** Reads a file of a process in `/proc`; `undefined` if the process has ended. */
function readOf(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return undefined;
  }
}

function treeOf(root: number): Process[] {
  const processes = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      const stat = readOf(Number(pid), 'stat');
      return stat === undefined ? [] : [processFrom(stat)];
    });
  const children = Map.groupBy(processes, ({ parent }) => parent);
  const tree = (one: Process): Process[] => [one, ...(children.get(one.pid) ?? []).flatMap(tree)];
  return processes.filter(({ pid }) => pid === root).flatMap(tree);
}

/** Returns the CPU time so far of a running process and all below it, in ms. */
export function cpuOfTree(root: number): number {
  return treeOf(root).reduce((sum, { cpuMs }) => sum + cpuMs, 0);
}

/** Returns the resident memory (RSS) of a process of this user and all below it, in MiB. */
export function residentOfTree(root: number): number {
  return treeOf(root).reduce((sum, { pid }) => sum + residentOf(pid), 0);
}

function residentOf(pid: number): number {
  const rollup = readOf(pid, 'smaps_rollup') ?? '';
  return Number(/^Rss: +(\d+) kB$/m.exec(rollup)?.[1] ?? 0) / 1024;
}
