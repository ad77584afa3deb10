import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { Item } from '../../../lib/table/access/write.ts';
import { codeOf, Problem } from '../../problem.ts';
import { type DataFolder, dataFiles, dataPath, deleteData, readData } from '../data-folder.ts';
import { parsePositions } from '../other-engine/stream-positions.ts';
import {
  closeFormerTable,
  type FormerChange,
  openFormerTable,
  readFormerItems,
  readUnhandledChanges,
} from './former-table.ts';

/** A table file that is being created. Both functions read the rows one by one and return how many they have inserted. */
type NewTable = {
  insertItems: (items: Iterable<Item>) => number;
  /** Inserts changes into the stream, oldest first. It leaves out changes that no consumer reads. */
  insertChanges: (changes: Iterable<FormerChange>) => number;
};

/**
 * Creates a table file and calls `fill`, all in one transaction. After it the file is complete, closed and on the disk,
 * without a log beside it.
 *
 * @throws what `fill` throws; the error of SQLite
 */
export type CreateTableFile = (path: string, fill: (table: NewTable) => void) => void;

/** The ends of the names of the files that SQLite writes beside a database. */
const sidecars = ['-journal', '-wal', '-shm'];

/** The primary error code of SQLite if the disk is full. */
const diskFull = 13;

/**
 * Takes the former table of a data folder over into a new table file: all items, and the changes that may not be handled.
 * Does nothing if there is no former table. The former file is not changed but renamed, and its log is merged into it.
 *
 * The steps, each of which is on the disk before the next begins:
 * 1. write `<table>.new`
 * 2. rename the former file
 * 3. rename `<table>.new` to `<table>`
 *
 * After an interruption before step 2 the former file is still there, and the upgrade begins again. After one before step
 * 3 it is not, so `<table>.new` is complete, and the upgrade goes on with step 3.
 *
 * @param name the name of the new table's file in the data folder, which is not the name of the former table
 * @param monotonic the time in milliseconds, for the duration
 * @returns what was done, as a sentence for the startup output; `undefined` if there was nothing to do
 * @throws `Problem` for an error that the user can correct; the former table is then unchanged
 */
export function takeOverFormerTable(
  data: DataFolder,
  name: string,
  createTableFile: CreateTableFile,
  monotonic: () => number = () => performance.now(),
): string | undefined {
  const table = dataPath(data, name);
  const former = dataPath(data, dataFiles.formerTable);
  const kept = dataPath(data, dataFiles.formerTableKept);
  const written = `${table}.new`;
  if (existsSync(table)) {
    if (existsSync(former))
      throw new Problem(
        `The data folder has the tables ${table} and, of an earlier version, ${former}; move the one that you do not need out of the folder.`,
      );
    return undefined;
  }
  let done = `Completed the interrupted upgrade of ${former}`;
  try {
    if (existsSync(former)) {
      if (existsSync(kept))
        throw new Problem(`${kept} of an earlier upgrade is in the way of this one; move it out of the data folder.`);
      const start = monotonic();
      const { items, changes } = copyTable(data, former, written, createTableFile);
      const seconds = (monotonic() - start) / 1000;
      done = `Took over ${count(items, 'item')} and ${count(changes, 'unhandled change')} from ${former} in ${seconds.toFixed(1)} s`;
      mergeLog(former);
      flushFolder(data.folder);
      renameSync(former, kept);
      flushFolder(data.folder);
    } else if (!existsSync(kept) || !existsSync(written)) return undefined;
    renameSync(written, table);
    flushFolder(data.folder);
  } catch (error) {
    throw explained(error, former);
  }
  for (const end of sidecars) for (const path of [former, written]) rmSync(path + end, { force: true });
  deleteData(data, dataFiles.positions);
  return `${done}; the former file is kept as ${kept}.`;
}

/** Copies a former table into a new file, and returns the numbers of items and changes. Deletes the file if it fails. */
function copyTable(
  data: DataFolder,
  former: string,
  written: string,
  createTableFile: CreateTableFile,
): { items: number; changes: number } {
  const positions = parsePositions(readData(data, dataFiles.positions));
  deleteDatabase(written);
  const source = openFormerTable(former);
  try {
    const copied = { items: 0, changes: 0 };
    createTableFile(written, ({ insertItems, insertChanges }) => {
      copied.items = insertItems(readFormerItems(source));
      copied.changes = insertChanges(readUnhandledChanges(source, positions));
    });
    return copied;
  } catch (error) {
    deleteDatabase(written);
    throw error;
  } finally {
    closeFormerTable(source);
  }
}

/** Merges the write-ahead log that an engine has left when it was killed, so that the database is one file. */
function mergeLog(path: string): void {
  if (!statSync(`${path}-wal`, { throwIfNoEntry: false })?.size) return;
  const file = new DatabaseSync(path);
  try {
    if (file.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.busy !== 0)
      throw new Problem(`Another program uses ${path}; end it and start the service again.`);
  } finally {
    file.close();
  }
}

function deleteDatabase(path: string): void {
  for (const end of ['', ...sidecars]) rmSync(path + end, { force: true });
}

/** Writes the names in a folder to the disk, so that a power failure keeps the order of two renames. */
function flushFolder(folder: string): void {
  // Windows cannot open folders; NTFS keeps the order by its journal.
  if (process.platform === 'win32') return;
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Explains errors of the file system and of SQLite. Others are errors of this program and stay as they are. */
function explained(error: unknown, former: string): unknown {
  const code = codeOf(error);
  if (error instanceof Problem || code === undefined) return error;
  const isFull = code === 'ENOSPC' || (Number((error as { errcode?: number }).errcode) & 0xff) === diskFull;
  const cause = isFull
    ? `the disk is full. Free space for a second file of ${megabytes(former)} MB`
    : `${(error as Error).message}. Correct this`;
  return new Problem(
    `The table of an earlier version, ${former}, was not taken over: ${cause}, then start the service again. The file was not changed.`,
  );
}

const megabytes = (path: string) => Math.ceil((statSync(path, { throwIfNoEntry: false })?.size ?? 0) / 1e6);

const count = (number: number, noun: string) => `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`;
