import { readdirSync, readFileSync } from 'node:fs';

/** A process as `/proc/PID/stat` tells of it; `cpuMs` is its time in user and system mode so far. */
type Process = { pid: number; parent: number; cpuMs: number };

/** Linux counts in hundredths of a second, whatever the machine. */
const tickMs = 10;

/** Reads a line of `/proc/PID/stat`. The name stands in brackets and may hold anything, brackets too. */
export function processFrom(stat: string): Process {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [parent, user, system] = [fields[1], fields[11], fields[12]].map(Number) as [number, number, number];
  return { pid: Number.parseInt(stat, 10), parent, cpuMs: (user + system) * tickMs };
}

/** The CPU time of a process and all below it, in ms, leaving out the trees of those in `without`. */
export function cpuBelow(processes: readonly Process[], root: number, without: readonly number[] = []): number {
  const children = Map.groupBy(processes, ({ parent }) => parent);
  const total = ({ pid, cpuMs }: Process): number =>
    without.includes(pid) ? 0 : (children.get(pid) ?? []).reduce((sum, child) => sum + total(child), cpuMs);
  return processes.filter(({ pid }) => pid === root).reduce((sum, one) => sum + total(one), 0);
}

/** The CPU time so far of a running process and all below it, in ms, leaving out the trees of those in `without`. */
export function cpuOfTree(root: number, without: readonly number[] = []): number {
  return cpuBelow(running(), root, without);
}

/** The processes that run below another, whatever is between. */
export function processesBelow(root: number): Process[] {
  const children = Map.groupBy(running(), ({ parent }) => parent);
  const below = (pid: number): Process[] => (children.get(pid) ?? []).flatMap((one) => [one, ...below(one.pid)]);
  return below(root);
}

function running(): Process[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return [processFrom(readFileSync(`/proc/${pid}/stat`, 'utf8'))];
      } catch {
        // It has ended since the folder was listed.
        return [];
      }
    });
}
