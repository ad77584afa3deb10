import { readdirSync, readFileSync } from 'node:fs';

/** The processes whose command line names a folder: a data folder's service, its engine and what holds its leash. */
export function processesOn(folder: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((id) => commandOf(id).includes(folder))
    .map(Number);
}

/** The command line of a process; empty for one that has just ended. */
function commandOf(id: string): string {
  try {
    return readFileSync(`/proc/${id}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
