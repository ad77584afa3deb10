import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import type { QuietChange } from '../../../../lib/names/consumers.ts';
import { type CancellationReason, Invalid, type StoredItem, type TableFailure } from '../errors.ts';
import { fulfils, parseCondition } from '../expressions/conditions.ts';
import type { Placeholders } from '../expressions/operands.ts';
import { projected } from '../expressions/projections.ts';
import { parseUpdate, updated } from '../expressions/updates.ts';
import { type ItemKey, indexEntrySize, rowOf, type TableRow } from '../rows.ts';
import { decode, decodeItem, encodeItem, type Stored } from '../values/encoding.ts';
import type { TableItem, Value } from '../values/values.ts';

/** A write of an item that the main thread has checked. It can be sent between threads. */
export type PreparedWrite = ItemKey & {
  action: 'put' | 'update' | 'delete' | 'check';
  /** The item of a put. */
  row?: TableRow;
  condition?: string;
  update?: string;
  names?: Readonly<Record<string, string>>;
  values?: Readonly<Record<string, Stored>>;
  /** What a single write returns. */
  returns?: 'ALL_OLD' | 'ALL_NEW' | 'UPDATED_NEW';
  /** Whether a failed condition returns the stored item. */
  returnsOnFailure?: boolean;
  /** Why the write of a transaction cannot be made: a key, an index key or an item that is not valid. */
  invalid?: string;
};

/** What the writer does in one step, all or nothing: the writes of a command, or the deletion of expired items. */
export type WriteJob =
  | { is: 'single'; writes: readonly [PreparedWrite] }
  /** Writes of different items; the writes of a batch have no conditions. */
  | { is: 'transaction' | 'batch'; writes: readonly PreparedWrite[] }
  /** Deletes at most `limit` items that have expired before a time, in seconds. */
  | { is: 'expiry'; before: number; limit: number };

/** The write units of a job for the table and for the index, without the factor of transactions. */
export type WriteUnits = { table: number; index: number };

/** The result of a job. `count` is the number of expired items that were deleted. */
export type JobResult = { attributes?: StoredItem; units: WriteUnits; count?: number } | { failure: TableFailure };

/** Jobs that are committed together. */
export type Batch = {
  jobs: readonly WriteJob[];
  /** Unix time, in ms. */
  now: number;
  /** Deletes the changes up to this number, which were handled. */
  handledUpTo: number;
};

/** The result of a committed batch. `changes` is the number of changes that it has recorded. */
export type BatchResult = { results: JobResult[]; changes: number };

/** The kinds of items whose changes are recorded, the kinds of which only new items are recorded, and the changes that are not. */
export type RecordedKinds = {
  kinds: readonly string[];
  onlyNew?: readonly string[] | undefined;
  quiet?: QuietChange | undefined;
};

/** Applies batches of writes to a database. */
export type Writer = { commit: (batch: Batch) => BatchResult };

/** A batch that was not committed, because SQLite failed. */
export class CommitFailed extends Error {
  override name = 'CommitFailed';
  /** Whether nothing of the batch can become visible, not even after a crash. */
  readonly isRolledBack: boolean;
  /** The result code of SQLite. */
  readonly code: number;

  constructor({ message, code, isRolledBack }: CommitFailure) {
    super(message);
    this.isRolledBack = isRolledBack;
    this.code = code;
  }
}

/** The parts of a `CommitFailed`, which can be sent between threads. */
export type CommitFailure = { message: string; code: number; isRolledBack: boolean };

/** The result code of SQLite for a full disk. */
export const diskFull = 13;

/** A stored item, and its value when it is first needed. */
type Found = TableRow & { item?: TableItem };

/** What a write does, decided before anything is written. */
type Plan = { write: PreparedWrite; old: Found | undefined; new: TableRow | undefined; changed?: readonly string[] };

type Columns = [string, number, number, string | null, string | null, number | null, string | null];

/**
 * Creates the writer of a database, which it must be the only one to write to.
 *
 * A batch is one transaction of SQLite, and each of its jobs is made completely or not at all: all conditions of a job are
 * checked and all its new items computed before its first statement writes. After that only SQLite itself can fail, which
 * fails the batch. So no job needs a savepoint.
 *
 * @param recorded the changes that are recorded
 */
export function createWriter(database: DatabaseSync, { kinds, onlyNew = [], quiet }: RecordedKinds): Writer {
  const select = database.prepare(
    'SELECT item, coded, size, due, dueAt, expiresAt, kind FROM items WHERE pk = ? AND sk = ?',
  );
  select.setReturnArrays(true);
  const insert = database.prepare(
    'INSERT INTO items (item, coded, size, kind, due, dueAt, expiresAt, pk, sk) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
  );
  const replace = database.prepare('UPDATE items SET item = ?, coded = ?, size = ?, kind = ? WHERE pk = ? AND sk = ?');
  const replaceListed = database.prepare(
    'UPDATE items SET item = ?, coded = ?, size = ?, kind = ?, due = ?, dueAt = ?, expiresAt = ? WHERE pk = ? AND sk = ?',
  );
  const remove = database.prepare('DELETE FROM items WHERE pk = ? AND sk = ?');
  const record = database.prepare(
    'INSERT INTO changes (at, pk, sk, old, oldCoded, new, newCoded) VALUES (?, ?, ?, ?, ?, ?, ?)',
  );
  const forget = database.prepare('DELETE FROM changes WHERE number <= ?');
  const expired = database.prepare('SELECT pk, sk FROM items WHERE expiresAt < ? LIMIT ?');
  const [begin, commit] = ['BEGIN IMMEDIATE', 'COMMIT'].map((sql) => database.prepare(sql));
  let changes = 0;

  function find({ pk, sk }: ItemKey): Found | undefined {
    const row = select.get(pk, sk) as unknown as Columns | undefined;
    if (!row) return undefined;
    const [text, coded, size, due, dueAt, expiresAt, kind] = row;
    return { pk, sk, text, coded: coded === 1, size, due, dueAt, expiresAt, kind };
  }

  const isOfKind = (row: TableRow | undefined) => row !== undefined && row.kind !== null && kinds.includes(row.kind);
  const isQuiet = (row: TableRow | undefined) =>
    quiet !== undefined && row?.kind === quiet.kind && decodeItem(row)[quiet.attribute] === quiet.value;

  const isNew = (old: TableRow | undefined, row: TableRow | undefined) =>
    !old && row !== undefined && row.kind !== null && onlyNew.includes(row.kind);

  /** DynamoDB records no change of an item that stays the same. */
  const isRecorded = (old: TableRow | undefined, row: TableRow | undefined) =>
    (isOfKind(old) || isOfKind(row) || isNew(old, row)) && old?.text !== row?.text && !(old && isQuiet(row));

  /** Makes a planned write, and returns its units. */
  function make({ write: { action, pk, sk }, old, new: row }: Plan, now: number): WriteUnits {
    const units = unitsOf(old, row);
    if (action === 'check' || (!old && !row)) return units;
    if (!row) remove.run(pk, sk);
    else {
      const { text, size, kind, due, dueAt, expiresAt } = row;
      const coded = Number(row.coded);
      if (!old) insert.run(text, coded, size, kind, due, dueAt, expiresAt, pk, sk);
      else if (old.due === due && old.dueAt === dueAt && old.expiresAt === expiresAt)
        replace.run(text, coded, size, kind, pk, sk);
      else replaceListed.run(text, coded, size, kind, due, dueAt, expiresAt, pk, sk);
    }
    if (isRecorded(old, row)) {
      const coded = (one: TableRow | undefined) => Number(one?.coded ?? false);
      record.run(now, pk, sk, old?.text ?? null, coded(old), row?.text ?? null, coded(row));
      changes += 1;
    }
    return units;
  }

  function run(job: WriteJob, now: number): JobResult {
    if (job.is === 'expiry') return deleteExpired(job, now);
    const planned = planAll(job.writes);
    if (!Array.isArray(planned)) return { failure: planned };
    if (planned.some((one) => 'code' in one)) return { failure: failureOf(job, planned) };
    const plans = planned as Plan[];
    if (job.is === 'transaction' && bytesOf(plans) > transactionBytes)
      return { failure: { name: 'ValidationException', message: tooLargeTransaction } };
    const units = { table: 0, index: 0 };
    for (const one of plans) {
      const { table, index } = make(one, now);
      units.table += table;
      units.index += index;
    }
    const attributes = job.is === 'single' ? attributesOf(plans[0] as Plan) : undefined;
    return { ...(attributes && { attributes }), units };
  }

  /** Decides all writes of a job. Returns the failure if a part of an expression is not supported. */
  function planAll(writes: readonly PreparedWrite[]): (Plan | CancellationReason)[] | TableFailure {
    try {
      return writes.map((write) => plan(write, find(write)));
    } catch (error) {
      if (isOfSqlite(error)) throw error;
      // Nothing is written yet, so the other jobs of the batch can go on.
      const { name, message } = error as Error;
      return { name, message };
    }
  }

  function deleteExpired({ before, limit }: { before: number; limit: number }, now: number): JobResult {
    const keys = expired.all(before, limit) as Record<string, SQLOutputValue>[] as ItemKey[];
    for (const key of keys) make({ write: { action: 'delete', ...key }, old: find(key), new: undefined }, now);
    return { units: { table: 0, index: 0 }, count: keys.length };
  }

  return {
    commit({ jobs, now, handledUpTo }) {
      changes = 0;
      let isCommitting = false;
      try {
        begin?.run();
        if (handledUpTo > 0) forget.run(handledUpTo);
        const results = jobs.map((job) => run(job, now));
        isCommitting = true;
        commit?.run();
        return { results, changes };
      } catch (error) {
        // SQLite may have ended the transaction itself.
        if (database.isTransaction) rollBack(database);
        const { message, errcode: code = 0 } = error as Error & { errcode?: number };
        // A full disk stops a commit before its last frame, which would make it valid.
        throw new CommitFailed({ message, code, isRolledBack: !isCommitting || code === diskFull });
      }
    },
  };
}

/** The most bytes that a transaction of DynamoDB writes. */
const transactionBytes = 4 * 1024 * 1024;
const tooLargeTransaction = 'The aggregate size of the items in the transaction exceeds 4 MB';

const bytesOf = (plans: readonly Plan[]) =>
  plans.reduce((sum, { write, new: row }) => sum + (write.action === 'check' ? 0 : (row?.size ?? 0)), 0);

const isOfSqlite = (error: unknown) => (error as { errcode?: number }).errcode !== undefined;

function rollBack(database: DatabaseSync): void {
  try {
    database.exec('ROLLBACK');
  } catch {
    // The error that led here is thrown.
  }
}

const conditionFailed = 'The conditional request failed';

/** Decides a write. Returns why it is not made if its condition fails or its update is not possible. */
function plan(write: PreparedWrite, old: Found | undefined): Plan | CancellationReason {
  const { condition, update, invalid } = write;
  if (invalid !== undefined) return { code: 'ValidationError', message: invalid };
  const placeholders = placeholdersOf(write);
  if (condition !== undefined) {
    const item = old ? itemOf(old) : {};
    if (!fulfils(item, parseCondition('ConditionExpression', condition), placeholders))
      return {
        code: 'ConditionalCheckFailed',
        message: conditionFailed,
        ...(write.returnsOnFailure && old && { item: { text: old.text, coded: old.coded } }),
      };
  }
  if (write.action === 'check') return { write, old, new: old };
  if (write.action !== 'update') return { write, old, new: write.row };
  const { pk, sk } = write;
  const before = old ? itemOf(old) : { pk, sk };
  try {
    const { item, changed } =
      update === undefined ? { item: before, changed: [] } : updated(before, parseUpdate(update), placeholders);
    return { write, old, new: rowOf(item, 'Item size to update has exceeded the maximum allowed size'), changed };
  } catch (error) {
    if (error instanceof Invalid) return { code: 'ValidationError', message: error.message };
    throw error;
  }
}

function itemOf(found: Found): TableItem {
  found.item ??= decodeItem(found);
  return found.item;
}

function placeholdersOf({ names = {}, values = {} }: PreparedWrite): Placeholders {
  const decoded: Record<string, Value> = {};
  for (const name in values) decoded[name] = decode(values[name] as Stored);
  return { names, values: decoded };
}

/** Returns what a single write returns; `undefined` if nothing. */
function attributesOf({ write, old, new: row, changed = [] }: Plan): StoredItem | undefined {
  const text = (one: TableRow | undefined) => one && { text: one.text, coded: one.coded };
  switch (write.returns) {
    case 'ALL_OLD':
      return text(old);
    case 'ALL_NEW':
      return text(row);
    case 'UPDATED_NEW': {
      const part = projected(decodeItem(row as TableRow), changed);
      return Object.keys(part).length === 0 ? undefined : encodeItem(part);
    }
  }
  return undefined;
}

/** Returns the error of a job that cannot be made. */
function failureOf(job: WriteJob, planned: readonly (Plan | CancellationReason)[]): TableFailure {
  const reasons = planned.map((one): CancellationReason => ('code' in one ? one : { code: 'None' }));
  if (job.is === 'transaction')
    return {
      name: 'TransactionCanceledException',
      message: `Transaction cancelled, please refer cancellation reasons for specific reasons [${reasons.map(({ code }) => code).join(', ')}]`,
      reasons,
    };
  const [{ code, message = '', item }] = reasons as [CancellationReason];
  return code === 'ValidationError'
    ? { name: 'ValidationException', message }
    : { name: 'ConditionalCheckFailedException', message, ...(item && { item }) };
}

/** The bytes that one write unit writes. */
const writeUnit = 1024;

/** Returns the units of a write: the units of the larger of both items, and the units of each changed entry of the index. */
function unitsOf(old: TableRow | undefined, row: TableRow | undefined): WriteUnits {
  const table = Math.max(1, Math.ceil(Math.max(old?.size ?? 0, row?.size ?? 0) / writeUnit));
  const [before, after] = [old ? indexEntrySize(old) : 0, row ? indexEntrySize(row) : 0];
  const isSame = before === after && old?.due === row?.due && old?.dueAt === row?.dueAt;
  const index = isSame ? 0 : Math.ceil(before / writeUnit) + Math.ceil(after / writeUnit);
  return { table, index };
}
