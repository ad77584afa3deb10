import { DatabaseSync } from 'node:sqlite';
import type { KeptPositions, Positions } from './stream-positions.ts';

/** How long a handled record stays, as in AWS. */
const keptSeconds = 24 * 60 * 60;

/**
 * Prepares the stream of the bundled engine, on its database file while the engine is stopped.
 *
 * - Adds the index that the engine's writes search by. Without it each write takes longer the more records there are.
 * - Deletes records that are older than a day and below the position of their shard. A record that is not handled stays,
 *   however old it is. The record at the position stays too: the engine numbers a new record by the greatest number that
 *   it finds, and would begin at 1 again in an empty stream, below the position.
 * - Forgets a position above every record of its shard. It belongs to records that no longer exist, and new records
 *   would get numbers below it and would not be read.
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
    const remove = file.prepare(
      'DELETE FROM _stream_records WHERE shard_id = ? AND CAST(sequence_number AS INTEGER) < CAST(? AS INTEGER)' +
        ` AND created_at < unixepoch() - ${keptSeconds}`,
    );
    for (const [shard, position] of Object.entries(positions)) remove.run(shard, position);
  } catch {
    // Another version's schema: slower, but right.
  } finally {
    file.close();
  }
}

/** Whether a shard has no record at its position or above it. */
function isPassed(file: DatabaseSync, shard: string, positions: Positions): boolean {
  const query =
    'SELECT 1 FROM _stream_records WHERE shard_id = ? AND CAST(sequence_number AS INTEGER) >= CAST(? AS INTEGER)';
  return file.prepare(query).get(shard, positions[shard] as string) === undefined;
}
