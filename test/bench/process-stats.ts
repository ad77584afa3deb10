import { readdirSync, readFileSync } from 'node:fs';

/** A process by `/proc/PID/stat`. `cpuMs` is its user and system time so far. */
type Process = { pid: number; parent: number; name: string; cpuMs: number };

/** The unit of CPU time in `/proc`, in milliseconds: Linux counts hundredths of a second on every machine. */
const tickMs = 10;

/** Reads a line of `/proc/PID/stat`. The name is in brackets, and can contain brackets and spaces. */
function processFrom(stat: string): Process {
  const [from, to] = [stat.indexOf('('), stat.lastIndexOf(')')];
  const fields = stat.slice(to + 2).split(' ');
  const [parent, user, system] = [fields[1], fields[11], fields[12]].map(Number) as [number, number, number];
  return { pid: Number.parseInt(stat, 10), parent, name: stat.slice(from + 1, to), cpuMs: (user + system) * tickMs };
}

function treeOf(root: number): Process[] {
  const processes = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return [processFrom(readFileSync(`/proc/${pid}/stat`, 'utf8'))];
      } catch {
        // It has ended since the folder was listed.
        return [];
      }
    });
  const children = Map.groupBy(processes, ({ parent }) => parent);
  const tree = (one: Process): Process[] => [one, ...(children.get(one.pid) ?? []).flatMap(tree)];
  return processes.filter(({ pid }) => pid === root).flatMap(tree);
}

/** Returns the CPU time so far of a running process and all below it, in ms. */
export function cpuOfTree(root: number): number {
  return treeOf(root).reduce((sum, { cpuMs }) => sum + cpuMs, 0);
}

/**
 * Returns the process of a name below another.
 *
 * @throws Error if there is none
 */
export function processNamed(name: string, root: number): number {
  const found = treeOf(root).find((one) => one.name === name);
  if (!found) throw new Error(`No process ${name} runs below ${root}.`);
  return found.pid;
}

/** Returns the resident memory (RSS) of a process of this user, in MiB. */
export function residentOf(pid: number): number {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  return Number(/^Rss: +(\d+) kB$/m.exec(rollup)?.[1]) / 1024;
}
