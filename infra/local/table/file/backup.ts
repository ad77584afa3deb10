import { closeSync, existsSync, openSync, renameSync, rmSync } from 'node:fs';
import { backup, DatabaseSync } from 'node:sqlite';
import { codeOf, Problem } from '../../../problem.ts';
import { databaseProblem } from './open-database.ts';

/** The result code of SQLite for a full disk. */
const diskFull = 13;

/**
 * Copies the database of a table that may be in use to a new file, for its owner only. The copy has all writes that were
 * answered before the call. The file gets its name when it is complete.
 *
 * @throws `Problem` if the file exists, if it cannot be written, or if the database is damaged
 */
export async function backUp(from: string, to: string): Promise<void> {
  const incomplete = `${to}.new`;
  if (existsSync(to)) throw new Problem(`The file ${to} exists already; name another one.`);
  try {
    closeSync(openSync(incomplete, 'wx', 0o600));
  } catch (error) {
    throw new Problem(
      codeOf(error) === 'EEXIST'
        ? `The file ${incomplete} of another backup exists; if no backup is running, delete it.`
        : `The file ${to} cannot be created (${(error as Error).message}); name another one.`,
    );
  }
  try {
    await copyDatabase(from, incomplete);
    renameSync(incomplete, to);
  } catch (error) {
    for (const end of ['', '-journal']) rmSync(incomplete + end, { force: true });
    if (((error as { errcode?: number }).errcode ?? 0) % 256 === diskFull)
      throw new Problem(`The disk of ${to} is full; free some space, or name a file on another disk.`);
    throw databaseProblem(error, from) ?? error;
  }
}

async function copyDatabase(from: string, to: string): Promise<void> {
  // A connection of its own, because the copying thread locks it: the reads of the service would wait.
  const source = new DatabaseSync(from, { readOnly: true });
  try {
    // All pages in one step. A write between two steps would begin the copy again.
    await backup(source, to, { rate: 2 ** 31 - 1 });
  } finally {
    source.close();
  }
}
