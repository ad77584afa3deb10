import type { DatabaseSync } from 'node:sqlite';

/**
 * The schema of the database file. The texts of items are in `values/encoding.ts`; the other columns are copies of
 * attributes that are searched. `changes` is the stream: the changes that were not handled yet.
 */
export const schema = `
  CREATE TABLE items (
    pk TEXT NOT NULL,
    sk TEXT NOT NULL,
    item TEXT NOT NULL,
    coded INTEGER NOT NULL,
    size INTEGER NOT NULL,
    due TEXT,
    dueAt TEXT,
    expiresAt REAL,
    kind TEXT,
    PRIMARY KEY (pk, sk)
  ) WITHOUT ROWID;
  CREATE INDEX due ON items (due, dueAt, pk, sk) WHERE due IS NOT NULL AND dueAt IS NOT NULL;
  CREATE INDEX expiry ON items (expiresAt) WHERE expiresAt IS NOT NULL;
  CREATE TABLE changes (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    pk TEXT NOT NULL,
    sk TEXT NOT NULL,
    old TEXT,
    oldCoded INTEGER NOT NULL,
    new TEXT,
    newCoded INTEGER NOT NULL
  );
`;

/** How a commit waits for the disk: `full` before each answer; `normal` not, so that a power cut may lose the last writes. */
export type Durability = 'full' | 'normal';

/** The sizes that SQLite accepts. All statements are prepared and short; a row has at most two images of an item. */
const limits = { length: 16_000_000, sqlLength: 10_000, attach: 0, triggerDepth: 1 };

/** Prepares a connection that writes. */
export function prepareWriter(database: DatabaseSync, durability: Durability): void {
  prepareConnection(database);
  // macOS: fsync alone does not flush the cache of the disk. Other systems ignore these two.
  const full = durability === 'full' ? 'ON' : 'OFF';
  database.exec(
    `PRAGMA synchronous = ${durability}; PRAGMA fullfsync = ${full}; PRAGMA checkpoint_fullfsync = ${full};
     PRAGMA journal_size_limit = 16777216`,
  );
}

/** Prepares a connection that only reads. */
export function prepareReader(database: DatabaseSync): void {
  prepareConnection(database);
  database.exec('PRAGMA query_only = ON');
}

function prepareConnection(database: DatabaseSync): void {
  Object.assign(database.limits, limits);
  database.exec('PRAGMA trusted_schema = OFF; PRAGMA cache_size = -8000');
}
