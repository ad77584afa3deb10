import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import type { PositionStore, Positions } from './stream-positions.ts';

/**
 * Prepares the stream in the database file of the bundled engine, while the engine is stopped:
 *
 * - Adds an index for the queries that the engine runs at each write. Without it, writes get slower as records accumulate.
 * - Deletes handled records: those below the position of their shard. The record at the position stays, because the
 *   engine numbers a new record by the highest number that it finds. In an empty stream it would start at 1 again, below
 *   the position.
 * - Deletes a position above every record of its shard. It belongs to records that no longer exist; new records would get
 *   numbers below it and would not be read.
 * - Shrinks the file if more than half of it is free. The engine reuses free space but never returns it.
 *
 * The schema belongs to the engine. A database with another schema is left unchanged.
 */
export function prepareStream(database: string, store: PositionStore): void {
  const positions = store.read();
  const file = new DatabaseSync(database);
  try {
    file.exec('CREATE INDEX IF NOT EXISTS sr_seq ON _stream_records(table_name, CAST(sequence_number AS INTEGER))');
    const outdated = Object.keys(positions).filter((shard) => isAboveAllRecords(file, shard, positions));
    if (outdated.length > 0) {
      for (const shard of outdated) delete positions[shard];
      store.write(positions);
    }
    for (const [shard, position] of Object.entries(positions)) deleteBelow(file, shard, position, -1);
    if (pragma(file, 'freelist_count') * 2 > pragma(file, 'page_count')) file.exec('VACUUM');
  } catch {
    // Another version of the engine has another schema. Without the preparation it is slower, but works.
  } finally {
    file.close();
  }
}

/** The state of the periodic deletion of handled records from the stream of a running engine. */
export type StreamTrimmer = {
  readonly file: DatabaseSync;
  readonly store: PositionStore;
  /** The stored positions at the last pass. */
  positions: Positions;
};

/** How many records one transaction deletes. It blocks the engine's writes for about a millisecond. */
const deletedAtOnce = 500;

/** The pause between two transactions, in which the engine can write. */
const trimPauseMs = 10;

/** The error code of SQLite if another connection writes to the database. */
const busy = 5;

/**
 * Opens a second connection to the database of a running engine, through which `trimStream` deletes handled records.
 * SQLite lets processes share a file: each waits while the other writes. The engine reuses the space, so that the file
 * stops growing.
 *
 * The deletion follows the stored positions and not those in memory: after a crash, reading resumes at the stored ones.
 */
export function createStreamTrimmer(database: string, store: PositionStore): StreamTrimmer {
  const file = new DatabaseSync(database);
  // The engine flushes and checkpoints the shared log. A deletion that is lost in a crash is repeated later.
  file.exec('PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0');
  return { file, store, positions: {} };
}

/** Deletes the records that were already handled at the last pass. Stops early if the trimmer is closed. */
export async function trimStream(trimmer: StreamTrimmer): Promise<void> {
  const handled = trimmer.positions;
  trimmer.positions = trimmer.store.read();
  for (const [shard, position] of Object.entries(handled))
    while (trimmer.file.isOpen && !isTrimmed(trimmer.file, shard, position)) await pause(trimPauseMs);
}

/** Closes the connection of a trimmer. */
export function closeStreamTrimmer({ file }: StreamTrimmer): void {
  if (file.isOpen) file.close();
}

/** Deletes some records below a position, and returns whether that were all. */
function isTrimmed(file: DatabaseSync, shard: string, position: string): boolean {
  try {
    return deleteBelow(file, shard, position, deletedAtOnce) < deletedAtOnce;
  } catch (error) {
    if ((error as { errcode?: number }).errcode === busy) return false;
    throw error;
  }
}

/** Deletes at most `limit` records of a shard below a position (-1: all), and returns how many were deleted. */
function deleteBelow(file: DatabaseSync, shard: string, position: string, limit: number): number {
  // These conditions use the index, which contains the table name and the number only.
  const handled =
    'SELECT id FROM _stream_records WHERE table_name IN (SELECT table_name FROM _tables)' +
    ' AND CAST(sequence_number AS INTEGER) < CAST(? AS INTEGER) AND shard_id = ? LIMIT ?';
  const { changes } = file.prepare(`DELETE FROM _stream_records WHERE id IN (${handled})`).run(position, shard, limit);
  return Number(changes);
}

/** Returns whether a shard has no record at its position or above it. */
function isAboveAllRecords(file: DatabaseSync, shard: string, positions: Positions): boolean {
  const query =
    'SELECT 1 FROM _stream_records WHERE shard_id = ? AND CAST(sequence_number AS INTEGER) >= CAST(? AS INTEGER)';
  return file.prepare(query).get(shard, positions[shard] as string) === undefined;
}

function pragma(file: DatabaseSync, name: 'freelist_count' | 'page_count'): number {
  return Number(file.prepare(`PRAGMA ${name}`).get()?.[name]);
}
