import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import type { KeptPositions, Positions } from './stream-positions.ts';

/**
 * Prepares the stream of the bundled engine, on its database file while the engine is stopped.
 *
 * - Adds the index that the engine's writes search by. Without it each write takes longer the more records there are.
 * - Deletes handled records: those below the position of their shard. The record at the position stays: the engine
 *   numbers a new record by the greatest number that it finds, and would begin at 1 again in an empty stream, below the
 *   position.
 * - Forgets a position above every record of its shard. It belongs to records that no longer exist, and new records
 *   would get numbers below it and would not be read.
 * - Gives the space of deleted records back where it is more than half of the file. The engine only reuses it.
 *
 * The schema is the engine's own, so a database that does not fit it is left alone.
 */
export function tidyStream(database: string, kept: KeptPositions): void {
  const positions = kept.read();
  const file = new DatabaseSync(database);
  try {
    file.exec('CREATE INDEX IF NOT EXISTS sr_seq ON _stream_records(table_name, CAST(sequence_number AS INTEGER))');
    const passed = Object.keys(positions).filter((shard) => isPassed(file, shard, positions));
    if (passed.length > 0) {
      for (const shard of passed) delete positions[shard];
      kept.write(positions);
    }
    for (const [shard, position] of Object.entries(positions)) deleteHandled(file, shard, position, -1);
    if (pragma(file, 'freelist_count') * 2 > pragma(file, 'page_count')) file.exec('VACUUM');
  } catch {
    // Another version's schema: slower, but right.
  } finally {
    file.close();
  }
}

/** Deletes handled records of a running engine's stream. */
export type Trimmer = {
  /** Deletes the records that were handled before the last pass. */
  pass: () => Promise<void>;
  close: () => void;
};

/** So many records are deleted in a transaction, which keeps the engine from writing for about a millisecond. */
const trimmedAtOnce = 500;

/** The pause between two transactions, in which the engine writes. */
const trimPauseMs = 10;

/** The code of SQLite for a database that another connection writes to. */
const busy = 5;

/**
 * Opens a second connection to the database of a running engine, to delete handled records. SQLite lets processes
 * share a file: each waits while the other writes. The engine reuses the space, so that the file stops growing.
 *
 * The positions are those that are kept, not those in memory: after a crash the stream is read from them on.
 */
export function openTrimmer(database: string, kept: KeptPositions): Trimmer {
  const file = new DatabaseSync(database);
  // The engine flushes and checkpoints the log that both write to. A deletion that is lost is made again.
  file.exec('PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0');
  let handled: Positions = {};
  const isDone = (shard: string, position: string): boolean => {
    try {
      return deleteHandled(file, shard, position, trimmedAtOnce) < trimmedAtOnce;
    } catch (error) {
      if ((error as { errcode?: number }).errcode === busy) return false;
      throw error;
    }
  };
  return {
    async pass() {
      const before = handled;
      handled = kept.read();
      for (const [shard, position] of Object.entries(before))
        while (file.isOpen && !isDone(shard, position)) await pause(trimPauseMs);
    },
    close: () => {
      if (file.isOpen) file.close();
    },
  };
}

/** Deletes records of a shard below a position, no more than `limit` (-1: all), and returns how many. */
function deleteHandled(file: DatabaseSync, shard: string, position: string, limit: number): number {
  // By the index, which only the table's name and the number are in.
  const handled =
    'SELECT id FROM _stream_records WHERE table_name IN (SELECT table_name FROM _tables)' +
    ' AND CAST(sequence_number AS INTEGER) < CAST(? AS INTEGER) AND shard_id = ? LIMIT ?';
  const { changes } = file.prepare(`DELETE FROM _stream_records WHERE id IN (${handled})`).run(position, shard, limit);
  return Number(changes);
}

/** Whether a shard has no record at its position or above it. */
function isPassed(file: DatabaseSync, shard: string, positions: Positions): boolean {
  const query =
    'SELECT 1 FROM _stream_records WHERE shard_id = ? AND CAST(sequence_number AS INTEGER) >= CAST(? AS INTEGER)';
  return file.prepare(query).get(shard, positions[shard] as string) === undefined;
}

function pragma(file: DatabaseSync, name: 'freelist_count' | 'page_count'): number {
  return Number(file.prepare(`PRAGMA ${name}`).get()?.[name]);
}
