import { accessSync, constants, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Problem } from '../problem.ts';
import { closeToOthers } from './file-modes.ts';

/** The open data folder of a local deployment, which contains everything that survives a restart. */
export type DataFolder = {
  readonly folder: string;
  readonly lock: DatabaseSync;
  /** What other users of the machine may have access to, as a sentence; `undefined` if it is nothing. */
  readonly modeProblem: string | undefined;
};

/** The names of the files in a data folder. */
export const dataFiles = {
  addresses: 'addresses.json',
  commands: 'commands.sock',
  /** The output of the engine that earlier versions had. */
  formerEngineLog: 'engine.log',
  formerTable: 'table.db',
  formerTableKept: 'table.db.before-upgrade',
  lock: 'lock',
  positions: 'stream.json',
  secretsKey: 'secrets.key',
  table: 'crewboard.db',
  token: 'token',
} as const;

/** The ends of names that SQLite and `writeData` append to the name of a file. */
const ofSameFile = /(\.new)?(-(wal|shm|journal))?$/;

/** Returns whether the service writes a file of this name to its data folder. */
const isDataFile = (name: string) => (Object.values(dataFiles) as string[]).includes(name.replace(ofSameFile, ''));

/** Keeps the locks referenced: Node.js closes a database, which unlocks the folder, when it is garbage-collected. */
const openFolders = new Set<DataFolder>();

/**
 * Opens the data folder and locks it for this process until `closeDataFolder`. Creates the folder if it does not exist,
 * and takes the rights of other users on the folder and its files.
 *
 * @throws `Problem` if the folder is not writable or another running deployment uses it
 */
export function openDataFolder(folder: string): DataFolder {
  try {
    createFolder(folder);
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new Problem(
      `The data folder ${folder} cannot be written (${(error as Error).message}); set CREWBOARD_DATA to a writable folder.`,
    );
  }
  // Before the lock: POSIX removes a lock of a process when the process closes any descriptor of the file.
  const modeProblem = closeToOthers(folder, isDataFile);
  const data = { folder, lock: lock(folder), modeProblem };
  openFolders.add(data);
  return data;
}

/** Unlocks the data folder. */
export function closeDataFolder(data: DataFolder): void {
  openFolders.delete(data);
  data.lock.close();
}

/** Returns the path of a file in the data folder. */
export function dataPath(data: DataFolder, name: string): string {
  return join(data.folder, name);
}

/** Returns the text of a file in the data folder, or `undefined` if there is no such file. */
export function readData(data: DataFolder, name: string): string | undefined {
  return readTextIfAny(dataPath(data, name));
}

/**
 * Replaces a file in the data folder atomically: if the process is killed, the file has either the old or the new text.
 *
 * @param options.flush if `false`, a power failure may lose both texts
 */
export function writeData(data: DataFolder, name: string, text: string, { flush = true } = {}): void {
  const path = dataPath(data, name);
  writeFileSync(`${path}.new`, text, { mode: 0o600, flush });
  renameSync(`${path}.new`, path);
}

/** Deletes a file in the data folder, if it exists. */
export function deleteData(data: DataFolder, name: string): void {
  rmSync(dataPath(data, name), { force: true });
}

/** Creates a folder and its parents. The recursion of Node.js itself never ends below a path such as /proc. */
function createFolder(folder: string): void {
  if (existsSync(folder)) return;
  createFolder(dirname(folder));
  mkdirSync(folder, { mode: 0o700 });
}

/** Returns the text of a file, or `undefined` if there is no such file. */
export function readTextIfAny(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Locks the folder by an open SQLite transaction. The operating system releases this lock if the process is killed. */
function lock(folder: string): DatabaseSync {
  const database = new DatabaseSync(join(folder, dataFiles.lock));
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
    return database;
  } catch {
    database.close();
    throw new Problem(
      `Another Crewboard, or one of its commands, is running on the data folder ${folder}; stop it or wait for its end, or set CREWBOARD_DATA to another folder.`,
    );
  }
}

/** Returns whether a running deployment has locked the folder. */
export function isFolderOpen(folder: string): boolean {
  if (!existsSync(join(folder, dataFiles.lock))) return false;
  const database = new DatabaseSync(join(folder, dataFiles.lock));
  try {
    database.exec('SELECT * FROM sqlite_master');
    return false;
  } catch {
    return true;
  } finally {
    database.close();
  }
}
