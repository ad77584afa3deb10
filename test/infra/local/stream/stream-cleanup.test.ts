import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { createTable } from '../../../../infra/local/engine/create-table.ts';
import { startEngine } from '../../../../infra/local/engine/engine.ts';
import { openTrimmer, tidyStream } from '../../../../infra/local/stream/stream-cleanup.ts';
import type { Positions } from '../../../../infra/local/stream/stream-positions.ts';
import { openTable } from '../../../../lib/table/client.ts';
import { streamed } from '../../../table-stream.ts';
import { createTemporaryFolder } from '../../../temporary-files.ts';

const folder = createTemporaryFolder();

let databases = 0;

type Record = { shard: string; number: number };

/** Records of one shard. */
const records = (numbers: number[], shard = 's'): Record[] => numbers.map((number) => ({ shard, number }));

/** The numbers from 1 to `last`. */
const upTo = (last: number) => Array.from({ length: last }, (_, at) => at + 1);

/** Opens a new database with a stream of records, oldest first, and the numbers of the remaining ones. */
function openStream(all: Record[], image = '') {
  const path = join(folder, `${++databases}.db`);
  const database = new DatabaseSync(path);
  database.exec(
    'PRAGMA journal_mode = WAL; CREATE TABLE _tables (table_name TEXT PRIMARY KEY); CREATE TABLE _stream_records' +
      ' (id INTEGER PRIMARY KEY, table_name TEXT, new_image TEXT, sequence_number TEXT, shard_id TEXT)',
  );
  database.exec("INSERT INTO _tables VALUES ('t')");
  const insert = database.prepare(
    "INSERT INTO _stream_records (table_name, new_image, sequence_number, shard_id) VALUES ('t', ?, ?, ?)",
  );
  database.exec('BEGIN');
  for (const { shard, number } of all) insert.run(image, String(number), shard);
  database.exec('COMMIT');
  const remaining = () =>
    database
      .prepare('SELECT sequence_number AS number FROM _stream_records ORDER BY id')
      .all()
      .map(({ number }) => Number(number));
  return { path, database, remaining };
}

/** Positions that are kept, as `now`. */
function keep(positions: Positions) {
  const kept = {
    now: positions,
    read: () => ({ ...kept.now }),
    write: (written: Positions) => {
      kept.now = { ...written };
    },
  };
  return kept;
}

/** Tidies a stream of records and returns the remaining ones and the remaining positions. */
function tidied(all: Record[], positions: Positions) {
  const { path, database, remaining } = openStream(all);
  const kept = keep(positions);
  tidyStream(path, kept);
  const result = { remaining: remaining(), positions: kept.now };
  database.close();
  return result;
}

describe('tidying the stream', () => {
  it('deletes handled records, but not the one at the position', () => {
    const { remaining, positions } = tidied(records([8, 9, 10, 11]), { s: '10' });
    expect(remaining).toEqual([10, 11]);
    expect(positions).toEqual({ s: '10' });
  });

  it('deletes nothing of a stream without a position', () => {
    expect(tidied(records([1, 2]), {}).remaining).toEqual([1, 2]);
  });

  it('judges each shard by its own position, a closed one too', () => {
    const all = [...records([1, 2], 'closed'), ...records([3, 4], 'open'), ...records([5], 'unread')];
    expect(tidied(all, { closed: '2', open: '4' }).remaining).toEqual([2, 4, 5]);
  });

  it.each([
    ['above every record', records([1, 2])],
    ['of a stream without records', []],
  ])('forgets a position %s, and deletes nothing below it', (_, all) => {
    const { remaining, positions } = tidied(all, { s: '3' });
    expect(positions).toEqual({});
    expect(remaining).toHaveLength(all.length);
  });

  it.each([
    ['gives the space of deleted records back where it is most of the file', 900, false],
    ['leaves it to the engine where it is a small part', 100, true],
  ])('%s', (_, handled, left) => {
    const { path, database } = openStream(records(upTo(1000)), 'x'.repeat(3500));
    database.close();
    tidyStream(path, keep({ s: String(handled + 1) }));
    const file = new DatabaseSync(path);
    expect(Number(file.prepare('PRAGMA freelist_count').get()?.freelist_count) > 0).toBe(left);
    file.close();
  });

  it('leaves a database of another schema alone', () => {
    const path = join(folder, 'other.db');
    new DatabaseSync(path).close();
    const positions = { s: '3' };
    tidyStream(path, { read: () => positions, write: () => expect.unreachable('no position is written') });
    expect(positions).toEqual({ s: '3' });
  });
});

describe('trimming the stream of a running engine', () => {
  it('deletes at each pass what was handled at the pass before', async () => {
    const { path, remaining } = openStream(records(upTo(6)));
    const kept = keep({ s: '3' });
    const trimmer = openTrimmer(path, kept);
    await trimmer.pass();
    expect(remaining()).toEqual(upTo(6));
    kept.now = { s: '5' };
    await trimmer.pass();
    expect(remaining()).toEqual([3, 4, 5, 6]);
    await trimmer.pass();
    expect(remaining()).toEqual([5, 6]);
    trimmer.close();
  });

  it('deletes more than one transaction takes', async () => {
    const { path, remaining } = openStream(records(upTo(1500)));
    const trimmer = openTrimmer(path, keep({ s: '1500' }));
    await trimmer.pass();
    await trimmer.pass();
    expect(remaining()).toEqual([1500]);
    trimmer.close();
  });

  it('waits while the engine writes', async () => {
    const { path, database, remaining } = openStream(records(upTo(6)));
    const trimmer = openTrimmer(path, keep({ s: '6' }));
    await trimmer.pass();
    database.exec('BEGIN IMMEDIATE');
    const pass = trimmer.pass();
    expect(remaining()).toEqual(upTo(6));
    database.exec('COMMIT');
    await pass;
    expect(remaining()).toEqual([6]);
    trimmer.close();
  });

  it('ends in the middle when it is closed', async () => {
    const { path, remaining } = openStream(records(upTo(1500)));
    const trimmer = openTrimmer(path, keep({ s: '1500' }));
    await trimmer.pass();
    const pass = trimmer.pass();
    trimmer.close();
    await pass;
    expect(remaining()).toHaveLength(1000);
  });

  it('keeps the file from growing, and the engine numbers and returns new records as before', async () => {
    const files = { database: join(folder, 'engine.db'), log: join(folder, 'engine.log') };
    const engine = await startEngine(files);
    const tableName = 'trimmed';
    await createTable(engine.endpoint, tableName);
    const { client } = openTable(tableName, engine.endpoint);
    const kept = keep({});
    const trimmer = openTrimmer(files.database, kept);
    const reader = new DatabaseSync(files.database);
    const pages: number[] = [];
    const rounds = 5;
    const writes = 100;
    for (let round = 1; round <= rounds; round++) {
      const TransactItems = upTo(writes).map((sk) => ({
        Put: { TableName: tableName, Item: { pk: 'p', sk: String(sk), kind: 'k', round, text: 'x'.repeat(3500) } },
      }));
      await client.send(new TransactWriteCommand({ TransactItems }));
      kept.now = { 'shardId-00000001-trimmed': String(round * writes) };
      await trimmer.pass();
      await trimmer.pass();
      pages.push(Number(reader.prepare('PRAGMA page_count').get()?.page_count));
    }
    const numbers = (await streamed({ endpoint: engine.endpoint, tableName }, 'k')).map(({ eventID }) => eventID);
    reader.close();
    trimmer.close();
    await engine.stop();
    expect(numbers).toEqual([String(rounds * writes)]);
    // From the second round on records have two images.
    expect(pages.at(-1)).toBeLessThan(1.1 * (pages[1] as number));
  });
});
