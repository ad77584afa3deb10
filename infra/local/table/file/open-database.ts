import { closeSync, existsSync, openSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Problem } from '../../../problem.ts';
import { schema } from './database.ts';

/** Marks the file as a table of this service: the letters `Crwb`. */
const applicationId = 0x43727762;

/** The version of the schema. A file with a higher one was written by a later release. */
const schemaVersion = 1;

/** The file systems, by the number that Linux gives them, on which SQLite cannot share memory between connections. */
const networkFileSystems = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB2'],
  [0x01021997, '9P'],
  [0x5346414f, 'AFS'],
  [0x00c36400, 'Ceph'],
  [0x0bd00bd0, 'Lustre'],
  [0x564c, 'NCP'],
  [0x73757245, 'Coda'],
]);

/** Creates the table in memory, which ends with the process. */
export function openMemoryDatabase(): DatabaseSync {
  const database = new DatabaseSync(':memory:');
  createSchema(database);
  return database;
}

/**
 * Opens the database file of the table, or creates it for its owner only. After a crash, which leaves a log behind, it
 * checks the file and moves the log into it.
 *
 * @throws `Problem` if the file or its disk cannot be used, or if another program or a later release has written it
 */
export function openDatabaseFile(path: string): DatabaseSync {
  const fileSystem = networkFileSystemOf(dirname(path));
  if (fileSystem)
    throw new Problem(
      `The data folder ${dirname(path)} is on a network file system (${fileSystem}), on which the table would be damaged; set CREWBOARD_DATA to a folder on a local disk.`,
    );
  const wasEndedUncleanly = (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
  try {
    if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600));
    return prepareFile(new DatabaseSync(path), path, wasEndedUncleanly);
  } catch (error) {
    throw error instanceof Problem ? error : (databaseProblem(error, path) ?? error);
  }
}

function prepareFile(database: DatabaseSync, path: string, wasEndedUncleanly: boolean): DatabaseSync {
  try {
    checkOrigin(database, path);
    if (textOf(database, 'PRAGMA journal_mode = WAL') !== 'wal')
      throw new Problem(
        `The file system of ${path} does not support the log of the table; set CREWBOARD_DATA to a folder on a local disk.`,
      );
    if (wasEndedUncleanly) checkPages(database, path);
    if (numberOf(database, 'PRAGMA application_id') === 0) createSchema(database);
    // Also what was not flushed yet at a crash is on the disk before it is read. This shows a read-only file, too.
    database.exec('BEGIN IMMEDIATE; COMMIT; PRAGMA wal_checkpoint(TRUNCATE)');
    shrink(database);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Checks that the file is empty or was written by this release or an earlier one. */
function checkOrigin(database: DatabaseSync, path: string): void {
  const id = numberOf(database, 'PRAGMA application_id');
  const version = numberOf(database, 'PRAGMA user_version');
  const isEmpty = numberOf(database, 'SELECT count(*) FROM sqlite_schema') === 0;
  if (isEmpty && id === 0) return;
  if (id !== applicationId)
    throw new Problem(
      `The file ${path} is not a table of Crewboard; move it away, or set CREWBOARD_DATA to another folder.`,
    );
  if (version > schemaVersion)
    throw new Problem(
      `The file ${path} was written by a later release of Crewboard (format ${version}, this release reads ${schemaVersion}); start that release, or set CREWBOARD_DATA to another folder.`,
    );
}

/** Creates the tables, all or none. */
function createSchema(database: DatabaseSync): void {
  database.exec(
    `BEGIN IMMEDIATE; ${schema} PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${schemaVersion}; COMMIT`,
  );
}

/** Shrinks the file if more than half of it is free. SQLite uses free pages again, but does not return them. */
function shrink(database: DatabaseSync): void {
  if (numberOf(database, 'PRAGMA freelist_count') * 2 <= numberOf(database, 'PRAGMA page_count')) return;
  try {
    database.exec('VACUUM; PRAGMA wal_checkpoint(TRUNCATE)');
  } catch {
    // It needs as much free space as the items take. Without it, the file stays as it is.
  }
}

function checkPages(database: DatabaseSync, path: string): void {
  const found = textOf(database, 'PRAGMA quick_check(1)');
  if (found !== 'ok') throw damaged(path, found);
}

const damaged = (path: string, what: string) =>
  new Problem(
    `The file ${path} is damaged (${what}); replace it with a backup, or move it away to start with an empty table.`,
  );

const firstColumn = (database: DatabaseSync, sql: string) => Object.values(database.prepare(sql).get() ?? {})[0];
const textOf = (database: DatabaseSync, sql: string) => String(firstColumn(database, sql));
const numberOf = (database: DatabaseSync, sql: string) => Number(firstColumn(database, sql));

/** The result codes of SQLite. */
const codes = { readOnly: 8, ioError: 10, corrupt: 11, full: 13, cannotOpen: 14, notADatabase: 26 };

/** SQLite cannot open a file if its disk has no room for the memory that connections share, and calls that an I/O error. */
const neededBytes = 64 * 1024;

function freeBytesOf(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

/** Returns what the user can do about an error of SQLite or of the file system; `undefined` for any other error. */
export function databaseProblem(error: unknown, path: string, freeBytes = freeBytesOf): Problem | undefined {
  const { errcode, code, message } = error as Error & { errcode?: number; code?: string };
  // The lower byte is the result code; the others say more.
  const result = (errcode ?? 0) & 0xff;
  const isFull =
    result === codes.full || code === 'ENOSPC' || (result === codes.ioError && freeBytes(dirname(path)) < neededBytes);
  if (isFull) return new Problem(`The disk of ${path} is full; free some space and start again.`);
  if (result === codes.readOnly || ['EROFS', 'EACCES', 'EPERM'].includes(code ?? ''))
    return new Problem(
      `The file ${path} cannot be written (${message}); make it writable, or set CREWBOARD_DATA to another folder.`,
    );
  if (result === codes.corrupt || result === codes.notADatabase) return damaged(path, message);
  if (result === codes.ioError || result === codes.cannotOpen)
    return new Problem(`The file ${path} cannot be read or written (${message}); check its disk.`);
  return undefined;
}

/** Returns the name of the network file system of a folder; `undefined` if it has another one, or on other systems than Linux. */
export function networkFileSystemOf(
  folder: string,
  typeOf: (folder: string) => number = (of) => statfsSync(of).type,
  platform: NodeJS.Platform = process.platform,
): string | undefined {
  if (platform === 'win32') return folder.startsWith('\\\\') ? 'SMB' : undefined;
  // The type is a number of 32 bits, with or without a sign.
  return platform === 'linux' ? networkFileSystems.get(typeOf(folder) >>> 0) : undefined;
}
