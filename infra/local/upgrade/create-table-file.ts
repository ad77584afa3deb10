import type { StatementSync } from 'node:sqlite';
import { openDatabaseFile } from '../table/file/open-database.ts';
import { rowOfAnySize, type TableRow } from '../table/rows.ts';
import type { FormerChange } from './former-table.ts';
import type { CreateTableFile } from './take-over.ts';

/**
 * Returns a function that creates the file of the table in the process.
 *
 * @param kinds the kinds of items whose changes are recorded
 */
export function tableFiles(kinds: readonly string[]): CreateTableFile {
  return (path, fill) => {
    const database = openDatabaseFile(path);
    try {
      // A write-ahead log would hold the whole table a second time. The journal of a new file is small.
      database.exec('PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL; BEGIN IMMEDIATE');
      const item = database.prepare(
        'INSERT INTO items (pk, sk, item, coded, size, due, dueAt, expiresAt, kind) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
      );
      const change = database.prepare(
        'INSERT INTO changes (at, pk, sk, old, oldCoded, new, newCoded) VALUES (?, ?, ?, ?, ?, ?, ?)',
      );
      fill({
        insertItems: (items) => insertAll(items, (one) => insertItem(item, rowOfAnySize(one))),
        insertChanges: (changes) => insertAll(changes, (one) => insertChange(change, one, kinds)),
      });
      database.exec('COMMIT');
    } finally {
      database.close();
    }
  };
}

/** Inserts rows one by one, and returns how many were inserted. */
function insertAll<Of>(rows: Iterable<Of>, insert: (row: Of) => boolean): number {
  let inserted = 0;
  for (const row of rows) if (insert(row)) inserted += 1;
  return inserted;
}

function insertItem(statement: StatementSync, row: TableRow): true {
  const { pk, sk, text, coded, size, due, dueAt, expiresAt, kind } = row;
  statement.run(pk, sk, text, Number(coded), size, due, dueAt, expiresAt, kind);
  return true;
}

/** Inserts a change if its kind is recorded, and returns whether it is. */
function insertChange(
  statement: StatementSync,
  { madeAt, before, after }: FormerChange,
  kinds: readonly string[],
): boolean {
  const [old, row] = [before && rowOfAnySize(before), after && rowOfAnySize(after)];
  const { pk, sk, kind } = (row ?? old) as TableRow;
  if (kind === null || !kinds.includes(kind)) return false;
  const image = (of: TableRow | undefined) => [of?.text ?? null, Number(of?.coded ?? false)] as const;
  statement.run(madeAt * 1000, pk, sk, ...image(old), ...image(row));
  return true;
}
