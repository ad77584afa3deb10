import { DatabaseSync } from 'node:sqlite';
import { type NativeAttributeValue, NumberValueImpl as NumberValue, unmarshall } from '@aws-sdk/util-dynamodb';
import type { Item } from '../../../lib/table/access/write.ts';
import { Problem } from '../../problem.ts';
import type { Positions } from '../other-engine/stream-positions.ts';
import { tableName } from '../running.ts';

/**
 * The table of the versions up to 0.2.0, which a bundled engine wrote, open for reading. Its readers see one state, also
 * while another process writes. The file has a table of items and one of the records of the stream, with an image as the
 * JSON of DynamoDB's protocol in each row.
 */
export type FormerTable = { readonly path: string; readonly file: DatabaseSync };

/** A change of an item, which the stream has recorded. */
export type FormerChange = {
  name: 'INSERT' | 'MODIFY' | 'REMOVE';
  /** When it was made, as Unix time in seconds. */
  madeAt: number;
  /** The item before the change; `undefined` if the change created it. */
  before: Item | undefined;
  /** The item after the change; `undefined` if the change deleted it. */
  after: Item | undefined;
};

/** The version of the engine's schema in every version of Crewboard that used the engine. */
const knownSchema = '9';

/** The primary error code of SQLite is the low byte of the code that `node:sqlite` reports. */
const primaryCode = 0xff;

/** Primary error codes of SQLite: a damaged file, and a file that is no database. */
const damaged = 11;
const noDatabase = 26;

/**
 * Opens a former table for reading, with the writes that are only in its write-ahead log. The file is not changed.
 *
 * @throws `Problem` if the file is no former table, is damaged, or was written by an unknown version of the engine
 */
export function openFormerTable(path: string): FormerTable {
  const table = { path, file: new DatabaseSync(path, { readOnly: true }) };
  try {
    readingFrom(path, () => {
      table.file.exec('BEGIN');
      checkSchema(table);
    });
    return table;
  } catch (error) {
    closeFormerTable(table);
    throw error;
  }
}

/** Closes a former table. */
export function closeFormerTable({ file }: FormerTable): void {
  file.close();
}

/**
 * Reads all items as the document client of DynamoDB returns them, in the order of their keys. They are read as the caller
 * asks for them, so a large table needs little memory.
 *
 * @throws `Problem` if the file is damaged
 */
export function* readFormerItems(table: FormerTable): Generator<Item> {
  if (!hasTable(table, tableName)) return;
  let count = 0;
  for (const { item_json } of rows(table, `SELECT item_json FROM "${tableName}" ORDER BY pk, sk`)) {
    count += 1;
    yield itemOf(table, item_json);
  }
  // The rows were found by an index, which may be damaged while the rows are not.
  for (const { all } of rows(table, `SELECT COUNT(*) AS "all" FROM "${tableName}" NOT INDEXED`))
    if (all !== count) throw damagedFile(table.path, new Error(`its index has ${count} of ${all} items`));
}

/**
 * Reads the changes that may not be handled, oldest first: those after the stored position of their shard. A shard without
 * a position, or with one above all its records, is read from its beginning, as the engine's reader did.
 *
 * @throws `Problem` if the file is damaged
 */
export function* readUnhandledChanges(table: FormerTable, positions: Positions): Generator<FormerChange> {
  if (!hasTable(table, '_stream_records')) return;
  const ofShards =
    'SELECT shard_id, MAX(CAST(sequence_number AS INTEGER)) AS last FROM _stream_records WHERE table_name = ? GROUP BY 1';
  for (const { shard_id, last } of [...rows(table, ofShards, tableName)]) {
    const position = Number(positions[shard_id as string]);
    yield* readShard(table, shard_id as string, position <= Number(last) ? position : 0);
  }
}

function* readShard(table: FormerTable, shard: string, position: number): Generator<FormerChange> {
  const after =
    'SELECT event_name, created_at, old_image, new_image FROM _stream_records' +
    ' WHERE table_name = ? AND CAST(sequence_number AS INTEGER) > ? AND shard_id = ?' +
    ' ORDER BY CAST(sequence_number AS INTEGER)';
  for (const { event_name, created_at, old_image, new_image } of rows(table, after, tableName, position, shard))
    yield {
      name: event_name as FormerChange['name'],
      madeAt: Number(created_at),
      before: old_image === null ? undefined : itemOf(table, old_image),
      after: new_image === null ? undefined : itemOf(table, new_image),
    };
}

/** Checks that the engine wrote the file. It has no tables yet if the engine was killed at its first start. */
function checkSchema(table: FormerTable): void {
  const tables = table.file.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  if (tables.length === 0) return;
  if (!hasTable(table, '_config')) throw foreignFile(table.path);
  const schema = table.file.prepare("SELECT value FROM _config WHERE key = 'schema_version'").get()?.value;
  if (schema !== undefined && schema !== knownSchema)
    throw new Problem(
      `${table.path} was written by an unknown version of the former table engine (schema ${schema}, not ${knownSchema}); ` +
        'start the version of Crewboard that wrote it. The file was not changed.',
    );
}

function hasTable({ path, file }: FormerTable, name: string): boolean {
  const find = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?";
  return readingFrom(path, () => file.prepare(find).get(name) !== undefined);
}

/** Returns the rows of a query one by one. */
function* rows({ path, file }: FormerTable, query: string, ...values: (string | number)[]) {
  const iterator = readingFrom(path, () => file.prepare(query).iterate(...values));
  for (;;) {
    const { done, value } = readingFrom(path, () => iterator.next());
    if (done) return;
    yield value;
  }
}

function itemOf({ path }: FormerTable, json: unknown): Item {
  try {
    return unmarshall(JSON.parse(json as string), { wrapNumbers: numberOf });
  } catch (error) {
    throw damagedFile(path, error);
  }
}

/** Returns a number as stores expect it. Numbers that JavaScript would change keep their digits. */
function numberOf(text: string): NativeAttributeValue {
  const number = Number(text);
  const isExact = String(number) === text && (Number.isSafeInteger(number) || !Number.isInteger(number));
  return isExact ? number : NumberValue.from(text);
}

/** Calls a function that reads a file, and explains the errors of SQLite that the user can correct. */
function readingFrom<Result>(path: string, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    const code = Number((error as { errcode?: number }).errcode) & primaryCode;
    if (code === noDatabase) throw foreignFile(path);
    throw code === damaged ? damagedFile(path, error) : error;
  }
}

function foreignFile(path: string): Problem {
  return new Problem(
    `${path} was not written by Crewboard; move it out of the data folder, or set CREWBOARD_DATA to another folder.`,
  );
}

function damagedFile(path: string, error: unknown): Problem {
  const { message } = error as Error;
  return new Problem(`${path} is damaged (${message}); restore it from a backup. The file was not changed.`);
}
