import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { createTable } from '../../../../infra/local/engine/create-table.ts';
import { startEngine } from '../../../../infra/local/engine/engine.ts';
import {
  closeStreamTrimmer,
  createStreamTrimmer,
  prepareStream,
  trimStream,
} from '../../../../infra/local/stream/stream-cleanup.ts';
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

/** Creates a database with a stream of records, oldest first. `remaining` returns the numbers of the remaining records. */
function createStream(all: Record[], image = '') {
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

/** Creates a position store with these positions, which `now` returns. */
function storeOf(positions: Positions) {
  const store = {
    now: positions,
    read: () => ({ ...store.now }),
    write: (written: Positions) => {
      store.now = { ...written };
    },
  };
  return store;
}

/** Prepares a stream of records, and returns the numbers of the remaining records and the remaining positions. */
function prepared(all: Record[], positions: Positions) {
  const { path, database, remaining } = createStream(all);
  const store = storeOf(positions);
  prepareStream(path, store);
  const result = { remaining: remaining(), positions: store.now };
  database.close();
  return result;
}

describe('prepareStream', () => {
  it('deletes handled records, but not the record at the position', () => {
    const { remaining, positions } = prepared(records([8, 9, 10, 11]), { s: '10' });
    expect(remaining).toEqual([10, 11]);
    expect(positions).toEqual({ s: '10' });
  });

  it('deletes no record of a stream without a position', () => {
    expect(prepared(records([1, 2]), {}).remaining).toEqual([1, 2]);
  });

  it('uses the own position of each shard, also of a closed shard', () => {
    const all = [...records([1, 2], 'closed'), ...records([3, 4], 'open'), ...records([5], 'unread')];
    expect(prepared(all, { closed: '2', open: '4' }).remaining).toEqual([2, 4, 5]);
  });

  it.each([
    ['above every record', records([1, 2])],
    ['of a stream without records', []],
  ])('deletes a position %s, and no record below it', (_, all) => {
    const { remaining, positions } = prepared(all, { s: '3' });
    expect(positions).toEqual({});
    expect(remaining).toHaveLength(all.length);
  });

  it.each([
    ['shrinks the file if deleted records leave most of it free', 900, false],
    ['leaves the free space to the engine if it is a small part of the file', 100, true],
  ])('%s', (_, handled, left) => {
    const { path, database } = createStream(records(upTo(1000)), 'x'.repeat(3500));
    database.close();
    prepareStream(path, storeOf({ s: String(handled + 1) }));
    const file = new DatabaseSync(path);
    expect(Number(file.prepare('PRAGMA freelist_count').get()?.freelist_count) > 0).toBe(left);
    file.close();
  });

  it('does not change a database with another schema', () => {
    const path = join(folder, 'other.db');
    new DatabaseSync(path).close();
    const positions = { s: '3' };
    prepareStream(path, { read: () => positions, write: () => expect.unreachable('a position was written') });
    expect(positions).toEqual({ s: '3' });
  });
});

describe('trimStream', () => {
  it('deletes the records that were handled at the last pass', async () => {
    const { path, remaining } = createStream(records(upTo(6)));
    const store = storeOf({ s: '3' });
    const trimmer = createStreamTrimmer(path, store);
    await trimStream(trimmer);
    expect(remaining()).toEqual(upTo(6));
    store.now = { s: '5' };
    await trimStream(trimmer);
    expect(remaining()).toEqual([3, 4, 5, 6]);
    await trimStream(trimmer);
    expect(remaining()).toEqual([5, 6]);
    closeStreamTrimmer(trimmer);
  });

  it('deletes more records than one transaction deletes', async () => {
    const { path, remaining } = createStream(records(upTo(1500)));
    const trimmer = createStreamTrimmer(path, storeOf({ s: '1500' }));
    await trimStream(trimmer);
    await trimStream(trimmer);
    expect(remaining()).toEqual([1500]);
    closeStreamTrimmer(trimmer);
  });

  it('waits while the engine writes', async () => {
    const { path, database, remaining } = createStream(records(upTo(6)));
    const trimmer = createStreamTrimmer(path, storeOf({ s: '6' }));
    await trimStream(trimmer);
    database.exec('BEGIN IMMEDIATE');
    const trimming = trimStream(trimmer);
    expect(remaining()).toEqual(upTo(6));
    database.exec('COMMIT');
    await trimming;
    expect(remaining()).toEqual([6]);
    closeStreamTrimmer(trimmer);
  });

  it('stops early when the trimmer is closed', async () => {
    const { path, remaining } = createStream(records(upTo(1500)));
    const trimmer = createStreamTrimmer(path, storeOf({ s: '1500' }));
    await trimStream(trimmer);
    const trimming = trimStream(trimmer);
    closeStreamTrimmer(trimmer);
    await trimming;
    expect(remaining()).toHaveLength(1000);
  });

  it('keeps the file from growing, and does not change how the engine numbers and returns new records', async () => {
    const files = { database: join(folder, 'engine.db'), log: join(folder, 'engine.log') };
    const engine = await startEngine(files);
    const tableName = 'trimmed';
    await createTable(engine.endpoint, tableName);
    const { client } = openTable(tableName, engine.endpoint);
    const store = storeOf({});
    const trimmer = createStreamTrimmer(files.database, store);
    const reader = new DatabaseSync(files.database);
    const pages: number[] = [];
    const rounds = 5;
    const writes = 100;
    for (let round = 1; round <= rounds; round++) {
      const TransactItems = upTo(writes).map((sk) => ({
        Put: { TableName: tableName, Item: { pk: 'p', sk: String(sk), kind: 'k', round, text: 'x'.repeat(3500) } },
      }));
      await client.send(new TransactWriteCommand({ TransactItems }));
      store.now = { 'shardId-00000001-trimmed': String(round * writes) };
      await trimStream(trimmer);
      await trimStream(trimmer);
      pages.push(Number(reader.prepare('PRAGMA page_count').get()?.page_count));
    }
    const numbers = (await streamed({ endpoint: engine.endpoint, tableName }, 'k')).map(({ eventID }) => eventID);
    reader.close();
    closeStreamTrimmer(trimmer);
    await engine.stop();
    expect(numbers).toEqual([String(rounds * writes)]);
    // From the second round on records have two images.
    expect(pages.at(-1)).toBeLessThan(1.1 * (pages[1] as number));
  });
});
