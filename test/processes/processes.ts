import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

/** Returns the processes whose command line names a folder. */
export function processesOn(folder: string): number[] {
  return processes().filter((id) => textOf(`/proc/${id}/cmdline`).includes(folder));
}

/** Returns a process and all that it has started, if they still run. */
export function processTreeOf(id: number): number[] {
  const parents = new Map(processes().flatMap((one) => parentOf(one).map((parent) => [one, parent])));
  const isIn = (one: number | undefined): boolean => one !== undefined && (one === id || isIn(parents.get(one)));
  return [...parents.keys()].filter(isIn);
}

/**
 * Returns the addresses at which processes accept connections or datagrams of the network, as the kernel writes them, such
 * as `tcp 0100007F:0BB8`.
 */
export function listeningAddressesOf(ids: readonly number[]): string[] {
  const sockets = new Set(ids.flatMap(socketsOf));
  // TCP: listening. UDP: not connected, so that it receives from everyone.
  const states = { tcp: '0A', tcp6: '0A', udp: '07', udp6: '07' };
  return Object.entries(states).flatMap(([protocol, wanted]) =>
    textOf(`/proc/net/${protocol}`)
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter(([, , , state, , , , , , inode]) => state === wanted && sockets.has(`socket:[${inode}]`))
      .map(([, local]) => `${protocol} ${local}`),
  );
}

const processes = () =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);

/** Returns the parent of a process; none if it has ended, also if its exit status was not read yet. */
function parentOf(id: number): number[] {
  // The name of the program, which may have spaces, is in parentheses.
  const [state, parent] = textOf(`/proc/${id}/stat`).split(') ').at(-1)?.split(' ') ?? [];
  return parent === undefined || state === 'Z' ? [] : [Number(parent)];
}

function socketsOf(id: number): string[] {
  try {
    return readdirSync(`/proc/${id}/fd`).map((fd) => readlinkSync(`/proc/${id}/fd/${fd}`));
  } catch {
    return [];
  }
}

/** Returns the text of a file of the kernel; empty if its process has just ended. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** Kills every process whose command line names a folder by SIGKILL, and waits until all have ended. */
export async function killAllOn(folder: string): Promise<void> {
  for (let ids = processesOn(folder); ids.length > 0; ids = processesOn(folder)) {
    for (const id of ids) kill(id);
    await pause(20);
  }
}

function kill(id: number): void {
  try {
    process.kill(id, 'SIGKILL');
  } catch {
    // It has ended meanwhile.
  }
}
