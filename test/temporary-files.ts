import { existsSync, mkdtempSync, realpathSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A file system in memory, as Linux has it. */
const memory = '/dev/shm';

/** Free bytes that the file system must have: several times what a run writes to it. */
const neededBytes = 4 * 1024 ** 3;

/**
 * Creates the folder of a test run and sets `TMPDIR` to it, for this process and its child processes. The folder is
 * removed when this process exits, with all temporary files of the tests and their packages.
 *
 * The folder is below `TMPDIR` where that is set, else in memory where there is room. A service flushes
 * every change to the file of its table, which takes longer on a disk.
 */
export function createRunFolder(): void {
  const folder = mkdtempSync(join(realpathSync(parentFolder()), 'crewboard-test-'));
  process.env.TMPDIR = folder;
  process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
}

/** Returns the folder that the folder of a run is created in. */
function parentFolder(): string {
  if (process.env.TMPDIR || !existsSync(memory)) return tmpdir();
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize < neededBytes ? tmpdir() : memory;
}

/** Creates an empty folder in the folder of the test run, which is removed with all in it when the run ends. */
export function createTemporaryFolder(): string {
  return mkdtempSync(join(tmpdir(), 'crewboard-'));
}
