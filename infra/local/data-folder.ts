import { accessSync, constants, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Problem } from './problem.ts';

/** The folder that holds all that a local deployment keeps. */
export type DataFolder = ReturnType<typeof openDataFolder>;

/**
 * Opens the data folder, making it if need be, and keeps it for this process alone until `close`.
 *
 * @throws `Problem` when it cannot be written, or is another running deployment's
 */
export function openDataFolder(folder: string) {
  try {
    makeFolder(folder);
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new Problem(
      `The data folder ${folder} cannot be written (${(error as Error).message}); set CREWBOARD_DATA to one that can.`,
    );
  }
  const unlock = lock(folder);
  const path = (name: string) => join(folder, name);
  return {
    path,
    /** The text of a file, or `undefined` where there is none. */
    read: (name: string) => readText(path(name)),
    /**
     * Replaces a file whole, so that a process killed meanwhile leaves the old text or the new. Where `flush` is false
     * a machine that loses its power may leave neither.
     */
    write: (name: string, text: string, { flush = true } = {}) => {
      writeFileSync(path(`${name}.new`), text, { mode: 0o600, flush });
      renameSync(path(`${name}.new`), path(name));
    },
    close: unlock,
  };
}

/** Makes a folder and those above it. Step by step: Node's own recursion never ends below a place such as /proc. */
function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  makeFolder(dirname(folder));
  mkdirSync(folder, { mode: 0o700 });
}

/** The text of a file, or `undefined` where there is none. */
export function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Holds the folder by an open SQLite transaction: a lock of the system's own, which a killed process cannot leave behind. */
function lock(folder: string): () => void {
  const database = new DatabaseSync(join(folder, 'lock'));
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
  } catch {
    database.close();
    throw new Problem(
      `Another Crewboard is running on the data folder ${folder}; stop it, or set CREWBOARD_DATA to another folder.`,
    );
  }
  return () => database.close();
}

/** Whether a running deployment has the folder open. */
export function isOpen(folder: string): boolean {
  if (!existsSync(join(folder, 'lock'))) return false;
  const database = new DatabaseSync(join(folder, 'lock'));
  try {
    database.exec('SELECT * FROM sqlite_master');
    return false;
  } catch {
    return true;
  } finally {
    database.close();
  }
}
