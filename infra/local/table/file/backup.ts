import { closeSync, openSync, rmSync } from 'node:fs';
import { backup, DatabaseSync } from 'node:sqlite';
import { codeOf, Problem } from '../../problem.ts';

/**
 * Copies the database of a table that may be in use to a new file, for its owner only. The copy has all writes that were
 * answered before the call.
 *
 * @throws `Problem` if the file exists or cannot be created
 */
export async function backUp(from: string, to: string): Promise<void> {
  try {
    closeSync(openSync(to, 'wx', 0o600));
  } catch (error) {
    throw new Problem(
      codeOf(error) === 'EEXIST'
        ? `The file ${to} exists already; name another one.`
        : `The file ${to} cannot be created (${(error as Error).message}); name another one.`,
    );
  }
  // A connection of its own, because the copying thread locks it: the reads of the service would wait.
  const source = new DatabaseSync(from, { readOnly: true });
  try {
    // All pages in one step. A write between two steps would begin the copy again.
    await backup(source, to, { rate: 2 ** 31 - 1 });
  } catch (error) {
    rmSync(to, { force: true });
    throw error;
  } finally {
    source.close();
  }
}
