import { DatabaseSync } from 'node:sqlite';

/** Streams keep their records for a day, as in AWS. */
const keptSeconds = 24 * 60 * 60;

/**
 * Keeps the bundled engine's stream fast, on its database file while it is stopped: gives it the index that its writes
 * look for, without which each costs more the more records there are, and takes away records that are past a day.
 * The schema is the engine's own, so what does not fit it is left alone.
 */
export function tidyStream(database: string): void {
  const file = new DatabaseSync(database);
  try {
    file.exec(
      'CREATE INDEX IF NOT EXISTS sr_seq ON _stream_records(table_name, CAST(sequence_number AS INTEGER));' +
        `DELETE FROM _stream_records WHERE created_at < unixepoch() - ${keptSeconds}`,
    );
  } catch {
    // Another version's schema: slower, but right.
  } finally {
    file.close();
  }
}
