import { setTimeout as pause } from 'node:timers/promises';
import { processesOn } from '../processes.ts';

/** Kills with -9 every process whose command line names a folder of ours, and waits until all are gone. */
export async function killAllOn(folder: string): Promise<void> {
  for (;;) {
    const ids = processesOn(folder);
    if (ids.length === 0) return;
    for (const id of ids) kill(id);
    await pause(20);
  }
}

function kill(id: number): void {
  try {
    process.kill(id, 'SIGKILL');
  } catch {
    // It has ended by itself meanwhile.
  }
}
