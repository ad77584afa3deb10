import { DatabaseSync } from 'node:sqlite';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import type { FormerChange } from '../../../../infra/local/upgrade/former-table.ts';
import type { CreateTableFile } from '../../../../infra/local/upgrade/take-over.ts';
import type { Item } from '../../../../lib/table/access/write.ts';

/** Returns a function that creates table files of a simple format. `mostPages` is the room on the disk, in pages. */
export function plainTables(mostPages = 2 ** 31): CreateTableFile {
  return (path, fill) => {
    const file = new DatabaseSync(path);
    try {
      file.exec(`PRAGMA max_page_count = ${mostPages}; BEGIN;
        CREATE TABLE items (pk TEXT, sk TEXT, item TEXT, PRIMARY KEY (pk, sk)) WITHOUT ROWID;
        CREATE TABLE changes (change TEXT)`);
      const [item, change] = ['INSERT INTO items VALUES (?, ?, ?)', 'INSERT INTO changes VALUES (?)'].map((sql) =>
        file.prepare(sql),
      );
      fill({
        insertItems: (items) =>
          insertAll(items, (one) => item?.run(one.pk as string, one.sk as string, JSON.stringify(marshall(one)))),
        insertChanges: (changes) =>
          insertAll(changes, ({ before, after, ...rest }) =>
            change?.run(
              JSON.stringify({ ...rest, before: before && marshall(before), after: after && marshall(after) }),
            ),
          ),
      });
      file.exec('COMMIT');
    } finally {
      file.close();
    }
  };
}

/** Inserts rows one by one, and returns their number. */
function insertAll<Row>(rows: Iterable<Row>, insert: (row: Row) => unknown): number {
  let inserted = 0;
  for (const row of rows) {
    insert(row);
    inserted += 1;
  }
  return inserted;
}

/** Reads a file of `plainTables`. */
export function readPlainTable(path: string): { items: Item[]; changes: FormerChange[] } {
  const file = new DatabaseSync(path, { readOnly: true });
  try {
    const texts = (sql: string) =>
      file
        .prepare(sql)
        .all()
        .map(({ text }) => JSON.parse(text as string));
    return {
      items: texts('SELECT item AS text FROM items').map((item) => unmarshall(item)),
      changes: texts('SELECT change AS text FROM changes ORDER BY rowid').map(({ before, after, ...rest }) => ({
        ...rest,
        before: before && unmarshall(before),
        after: after && unmarshall(after),
      })),
    };
  } finally {
    file.close();
  }
}
