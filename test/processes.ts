import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

/** Returns the processes whose command line names a folder, such as the service and the engine of a data folder. */
export function processesOn(folder: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((id) => commandOf(id).includes(folder))
    .map(Number);
}

/** Returns the command line of a process; empty for one that has just ended. */
function commandOf(id: string): string {
  try {
    return readFileSync(`/proc/${id}/cmdline`, 'utf8');
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
