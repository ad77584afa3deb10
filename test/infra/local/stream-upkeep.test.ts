import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, describe, expect, it } from 'vitest';
import type { Positions } from '../../../infra/local/stream-positions.ts';
import { tidyStream } from '../../../infra/local/stream-upkeep.ts';

const folder = mkdtempSync(join(tmpdir(), 'crewboard-stream-'));
afterAll(() => rmSync(folder, { recursive: true }));

const hour = 60 * 60;
/** The ages of records, in seconds: within a day, and over a weekend. */
const [young, old] = [23 * hour, 72 * hour];

let databases = 0;

/** Tidies a stream of records, oldest first, and returns the remaining ones and the remaining positions. */
function tidied(records: { shard: string; number: number; age: number }[], positions: Positions) {
  const path = join(folder, `${++databases}.db`);
  const database = new DatabaseSync(path);
  database.exec(
    'CREATE TABLE _stream_records (id INTEGER PRIMARY KEY, table_name TEXT, sequence_number TEXT, shard_id TEXT, created_at INTEGER)',
  );
  const insert = database.prepare(
    "INSERT INTO _stream_records (table_name, sequence_number, shard_id, created_at) VALUES ('t', ?, ?, unixepoch() - ?)",
  );
  for (const { shard, number, age } of records) insert.run(String(number), shard, age);
  let kept = positions;
  tidyStream(path, {
    read: () => ({ ...kept }),
    write: (now) => {
      kept = { ...now };
    },
  });
  const remaining = database.prepare('SELECT sequence_number AS number FROM _stream_records ORDER BY id').all();
  database.close();
  return { remaining: remaining.map(({ number }) => Number(number)), positions: kept };
}

/** Records of one shard, of one age. */
const records = (numbers: number[], age: number, shard = 's') => numbers.map((number) => ({ shard, number, age }));

describe('tidying the stream', () => {
  it('deletes records that are handled and older than a day, but not the one at the position', () => {
    const { remaining, positions } = tidied([...records([8, 9, 10, 11], old)], { s: '10' });
    expect(remaining).toEqual([10, 11]);
    expect(positions).toEqual({ s: '10' });
  });

  it('keeps handled records for a day', () => {
    expect(tidied([...records([1], old), ...records([2, 3], young)], { s: '3' }).remaining).toEqual([2, 3]);
  });

  it('deletes nothing of a stream without a position', () => {
    expect(tidied(records([1, 2], old), {}).remaining).toEqual([1, 2]);
  });

  it('judges each shard by its own position, a closed one too', () => {
    const two = [...records([1, 2], old, 'closed'), ...records([3, 4], old, 'open'), ...records([5], old, 'unread')];
    expect(tidied(two, { closed: '2', open: '3' }).remaining).toEqual([2, 3, 4, 5]);
  });

  it.each([
    ['above every record', records([1, 2], old)],
    ['of a stream without records', []],
  ])('forgets a position %s, and deletes nothing below it', (_, all) => {
    const { remaining, positions } = tidied(all, { s: '3' });
    expect(positions).toEqual({});
    expect(remaining).toHaveLength(all.length);
  });

  it('leaves a database of another schema alone', () => {
    const path = join(folder, 'other.db');
    new DatabaseSync(path).close();
    const positions = { s: '3' };
    tidyStream(path, { read: () => positions, write: () => expect.unreachable('no position is written') });
    expect(positions).toEqual({ s: '3' });
  });
});
