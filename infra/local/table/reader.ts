import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { tableSchema } from '../../../lib/names/table-schema.ts';
import type { StoredItem } from './errors.ts';
import type { Bound } from './expressions/key-conditions.ts';
import { type ItemKey, indexEntrySize } from './rows.ts';

const { partitionKey, sortKey, dueIndex } = tableSchema;

/** The most bytes that a page reads, by the rules of DynamoDB. The item that goes beyond it is the last one. */
const pageBytes = 1024 * 1024;

/** The range of a page, in the order of the keys. */
export type RowRange = {
  /** Whether the range is one of the index. */
  inIndex: boolean;
  /** The partition; `undefined` for all. */
  hash: string | undefined;
  bounds: readonly Bound[];
  descending: boolean;
  /** The key of the item before the first one of the page. */
  after: StartKey | undefined;
  /** The most items to read. */
  limit: number;
  /** Whether the items themselves are needed, and not only their number. */
  withItems: boolean;
};

/** The key of an item, with the key of the index for a range of the index. */
export type StartKey = ItemKey & { due?: string; dueAt?: string };

/** An item of a page: its text, if the range wants items, and its size. An entry of the index is its four keys. */
type Read = ItemKey & Partial<StoredItem> & { size: number; due?: string; dueAt?: string };

/** The items of a page, and the key of the last one if there may be more. */
export type RowPage = { items: Read[]; size: number; last: StartKey | undefined };

/** Reads from a database. */
export type Reader = {
  get: (key: ItemKey) => (StoredItem & { size: number }) | undefined;
  /** Returns what a function reads, which waits for nothing: all its reads see the same commits and lock the file once. */
  together: <Result>(read: () => Result) => Result;
  page: (range: RowRange) => RowPage;
};

/** Creates a reader. Its connection may be one that only reads, beside the writer's. */
export function createReader(database: DatabaseSync): Reader {
  const select = database.prepare('SELECT item, coded, size FROM items WHERE pk = ? AND sk = ?');
  select.setReturnArrays(true);
  const [begin, end] = [database.prepare('BEGIN'), database.prepare('COMMIT')];
  const statements = new Map<string, StatementSync>();
  const prepared = (sql: string) => {
    const known = statements.get(sql);
    if (known) return known;
    const created = database.prepare(sql);
    created.setReturnArrays(true);
    statements.set(sql, created);
    return created;
  };

  return {
    get: ({ pk, sk }) => {
      const row = select.get(pk, sk) as unknown as [string, number, number] | undefined;
      return row && { text: row[0], coded: row[1] === 1, size: row[2] };
    },
    together: (read) => {
      begin.run();
      try {
        return read();
      } finally {
        end.run();
      }
    },
    page: (range) => {
      const { sql, values } = statementOf(range);
      const items: Read[] = [];
      let size = 0;
      for (const row of prepared(sql).iterate(...values)) {
        const read = range.inIndex ? entryOf(row as never) : itemOf(row as never);
        items.push(read);
        size += read.size;
        if (items.length === range.limit || size > pageBytes) return { items, size, last: keyOf(read) };
      }
      return { items, size, last: undefined };
    },
  };
}

type Columns = [string, string, number, string?, number?];

const itemOf = ([pk, sk, size, text, coded]: Columns): Read =>
  text === undefined ? { pk, sk, size } : { pk, sk, size, text, coded: coded === 1 };

/** Returns an entry of the index as an item, which it is for the reader: the index has the keys only. */
function entryOf([due, dueAt, pk, sk]: [string, string, string, string]): Read {
  const item = { [partitionKey]: pk, [sortKey]: sk, [dueIndex.partitionKey]: due, [dueIndex.sortKey]: dueAt };
  const size = indexEntrySize({ pk, sk, due, dueAt });
  return { pk, sk, due, dueAt, size, text: JSON.stringify(item), coded: false };
}

const keyOf = ({ pk, sk, due, dueAt }: Read): StartKey =>
  due === undefined || dueAt === undefined ? { pk, sk } : { pk, sk, due, dueAt };

/** Returns the statement of a range. No text of a caller is in it. */
export function statementOf({ inIndex, hash, bounds, descending, after, withItems }: RowRange): {
  sql: string;
  values: string[];
} {
  const [hashColumn, sortColumn] = inIndex ? ['due', 'dueAt'] : ['pk', 'sk'];
  const columns = inIndex ? 'due, dueAt, pk, sk' : `pk, sk, size${withItems ? ', item, coded' : ''}`;
  const where: string[] = inIndex ? ['due IS NOT NULL', 'dueAt IS NOT NULL'] : [];
  const values: string[] = [];
  const order = inIndex ? ['due', 'dueAt', 'pk', 'sk'] : ['pk', 'sk'];
  const beyond = descending ? '<' : '>';
  if (hash !== undefined) {
    where.push(`${hashColumn} = ?`);
    values.push(hash);
  }
  if (after) {
    // Below a partition, its own column is not part of the start: SQLite then goes to the start by the index.
    const key: Record<string, string> = { ...after };
    const names = hash === undefined ? order : order.filter((name) => name !== hashColumn);
    where.push(`(${names.join(', ')}) ${beyond} (${names.map(() => '?').join(', ')})`);
    values.push(...names.map((name) => key[name] ?? ''));
  }
  for (const { operator, value } of bounds) {
    // The plus sign keeps SQLite from going to this end of the range instead of the start, and reading all between them.
    const isPassed = after !== undefined && operator.startsWith(beyond);
    where.push(`${isPassed ? '+' : ''}${sortColumn} ${operator} ?`);
    values.push(value);
  }
  const from = inIndex ? 'items INDEXED BY due' : 'items';
  const condition = where.length > 0 ? ` WHERE ${where.join(' AND ')}` : '';
  const direction = descending ? ' DESC' : '';
  const orderBy = order.map((column) => column + direction).join(', ');
  return { sql: `SELECT ${columns} FROM ${from}${condition} ORDER BY ${orderBy}`, values };
}
