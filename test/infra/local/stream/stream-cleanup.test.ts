import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, describe, expect, it } from 'vitest';
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

/** Creates a database with a stream of records of one or more shards, oldest first, and a position store. */
function createStream(shards: Record<string, number[]>, positions: Positions, image = '') {
  const path = join(folder, `${++databases}.db`);
  const database = new DatabaseSync(path);
  database.exec(
    `PRAGMA journal_mode = WAL; CREATE TABLE _tables (table_name TEXT PRIMARY KEY); INSERT INTO _tables VALUES ('t');
     CREATE TABLE _stream_records
       (id INTEGER PRIMARY KEY, table_name TEXT, new_image TEXT, sequence_number TEXT, shard_id TEXT)`,
  );
  const insert = database.prepare("INSERT INTO _stream_records VALUES (NULL, 't', ?, ?, ?)");
  database.exec('BEGIN');
  for (const [shard, numbers] of Object.entries(shards))
    for (const number of numbers) insert.run(image, String(number), shard);
  database.exec('COMMIT');
  const store = {
    now: positions,
    read: () => ({ ...store.now }),
    write: (written: Positions) => {
      store.now = { ...written };
    },
  };
  const remaining = () =>
    database
      .prepare('SELECT * FROM _stream_records ORDER BY id')
      .all()
      .map((row) => Number(row.sequence_number));
  return { path, database, store, remaining };
}

const upTo = (last: number) => Array.from({ length: last }, (_, at) => at + 1);

describe('prepareStream', () => {
  it.each<[string, Record<string, number[]>, Positions, number[], Positions?]>([
    ['deletes handled records, but not that at the position', { s: [8, 9, 10, 11] }, { s: '10' }, [10, 11]],
    ['deletes no record of a stream without a position', { s: [1, 2] }, {}, [1, 2]],
    [
      'uses the position of each shard, also of a closed one',
      { closed: [1, 2], open: [3, 4], unread: [5] },
      { closed: '2', open: '4' },
      [2, 4, 5],
    ],
    ['deletes a position above every record, and no record', { s: [1, 2] }, { s: '3' }, [1, 2], {}],
    ['deletes a position of a stream without records', {}, { s: '3' }, [], {}],
  ])('%s', (_, shards, positions, left, newPositions = positions) => {
    const { path, store, remaining } = createStream(shards, positions);
    prepareStream(path, store);
    expect([remaining(), store.now]).toEqual([left, newPositions]);
  });

  it.each([
    ['shrinks the file if deleted records leave most of it free', 900, false],
    ['leaves the free space to the engine if it is a small part of the file', 100, true],
  ])('%s', (_, handled, left) => {
    const { path, database, store } = createStream({ s: upTo(1000) }, { s: String(handled + 1) }, 'x'.repeat(3500));
    database.close();
    prepareStream(path, store);
    const free = new DatabaseSync(path).prepare('PRAGMA freelist_count').get()?.freelist_count;
    expect(Number(free) > 0).toBe(left);
  });

  it('does not change a database with another schema', () => {
    const path = join(folder, 'other.db');
    new DatabaseSync(path).close();
    prepareStream(path, { read: () => ({ s: '3' }), write: () => expect.unreachable('a position was written') });
  });
});

describe('trimStream', () => {
  const trimmers: ReturnType<typeof createStreamTrimmer>[] = [];
  afterEach(() => trimmers.splice(0).forEach(closeStreamTrimmer));

  /** Creates a stream with the records from 1 to `last`, and a trimmer of it. */
  function createTrimmed(last: number, position: number) {
    const stream = createStream({ s: upTo(last) }, { s: String(position) });
    const trimmer = createStreamTrimmer(stream.path, stream.store);
    trimmers.push(trimmer);
    return { ...stream, trimmer };
  }

  it('deletes the records that were handled at the last pass', async () => {
    const { remaining, store, trimmer } = createTrimmed(6, 3);
    for (const left of [upTo(6), [3, 4, 5, 6], [5, 6]]) {
      await trimStream(trimmer);
      expect(remaining()).toEqual(left);
      store.now = { s: '5' };
    }
  });

  it('deletes more records than one transaction deletes, and stops between transactions when it is closed', async () => {
    const [whole, closed] = [createTrimmed(1500, 1500), createTrimmed(1500, 1500)];
    for (const { trimmer } of [whole, closed]) await trimStream(trimmer);
    await trimStream(whole.trimmer);
    expect(whole.remaining()).toEqual([1500]);
    const trimming = trimStream(closed.trimmer);
    closeStreamTrimmer(closed.trimmer);
    await trimming;
    expect(closed.remaining()).toHaveLength(1000);
  });

  it('waits while the engine writes', async () => {
    const { database, remaining, trimmer } = createTrimmed(6, 6);
    await trimStream(trimmer);
    database.exec('BEGIN IMMEDIATE');
    const trimming = trimStream(trimmer);
    expect(remaining()).toEqual(upTo(6));
    database.exec('COMMIT');
    await trimming;
    expect(remaining()).toEqual([6]);
  });

  it('keeps the file from growing, and does not change how the engine numbers and returns new records', async () => {
    const files = { database: join(folder, 'engine.db'), log: join(folder, 'engine.log') };
    const engine = await startEngine(files);
    const tableName = 'trimmed';
    await createTable(engine.endpoint, tableName);
    const { client } = openTable(tableName, engine.endpoint);
    const { store } = createStream({}, {});
    const trimmer = createStreamTrimmer(files.database, store);
    trimmers.push(trimmer);
    const pageCount = new DatabaseSync(files.database).prepare('PRAGMA page_count');
    const pages: number[] = [];
    for (let round = 1; round <= 5; round++) {
      const items = upTo(100).map((sk) => ({ pk: 'p', sk: String(sk), kind: 'k', round, text: 'x'.repeat(3500) }));
      const TransactItems = items.map((Item) => ({ Put: { TableName: tableName, Item } }));
      await client.send(new TransactWriteCommand({ TransactItems }));
      store.now = { 'shardId-00000001-trimmed': String(round * 100) };
      for (const _ of ['once', 'again']) await trimStream(trimmer);
      pages.push(Number(pageCount.get()?.page_count));
    }
    const numbers = (await streamed({ endpoint: engine.endpoint, tableName }, 'k')).map(({ eventID }) => eventID);
    await engine.stop();
    expect(numbers).toEqual(['500']);
    // From the second round on records have two images.
    expect(pages.at(-1)).toBeLessThan(1.1 * (pages[1] as number));
  });
});
