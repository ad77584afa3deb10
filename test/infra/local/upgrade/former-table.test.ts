import { mkdtempSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { marshall } from '@aws-sdk/util-dynamodb';
import { expect, it, onTestFinished } from 'vitest';
import {
  closeFormerTable,
  openFormerTable,
  readFormerItems,
  readUnhandledChanges,
} from '../../../../infra/local/upgrade/former-table.ts';
import { createTemporaryFolder } from '../../../temporary-files.ts';
import { answersOf, createFormerFolder, formerVersions } from './former-folders.ts';

const root = createTemporaryFolder();

function open(path: string) {
  const table = openFormerTable(path);
  onTestFinished(() => closeFormerTable(table));
  return table;
}

/** Creates a file as the engine writes it, with some items and stream records of `[shard, number, title]`. */
function createFile(items: object[] = [], records: [string, number, string][] = []): string {
  const path = join(mkdtempSync(join(root, 'table-')), 'table.db');
  const file = new DatabaseSync(path);
  file.exec(
    `CREATE TABLE _config (key TEXT PRIMARY KEY, value TEXT NOT NULL); INSERT INTO _config VALUES ('schema_version', '9');
     CREATE TABLE _stream_records (table_name TEXT, event_name TEXT, new_image TEXT, old_image TEXT,
       sequence_number TEXT, shard_id TEXT, created_at INTEGER);
     CREATE TABLE crewboard (pk TEXT NOT NULL, sk TEXT NOT NULL, item_json TEXT NOT NULL, PRIMARY KEY (pk, sk))`,
  );
  for (const [at, item] of items.entries())
    file.prepare('INSERT INTO crewboard VALUES (?, ?, ?)').run('S:a', `S:${at}`, JSON.stringify(item));
  for (const [shard, number, title] of records)
    file
      .prepare('INSERT INTO _stream_records VALUES (?, ?, ?, NULL, ?, ?, 1)')
      .run('crewboard', 'INSERT', JSON.stringify({ title: { S: title } }), String(number), shard);
  file.close();
  return path;
}

const byKey = (items: Record<string, { S: string }>[]) =>
  Object.fromEntries(items.map((item) => [`${item.pk?.S} ${item.sk?.S}`, item]));

/** Returns the wire form of a value with the members of its sets in order: sets have none. */
const sorted = (value: unknown) =>
  JSON.parse(JSON.stringify(value), (name, one) => (name === 'SS' || name === 'NS' ? one.sort() : one));

it.each(formerVersions)('reads what the engine of %s answers, also from its log, and changes no file', (version) => {
  const folder = createFormerFolder(version);
  const files = () => ['table.db', 'table.db-wal'].map((name) => readFileSync(join(folder, name)));
  const before = files();
  const table = open(join(folder, 'table.db'));
  const { items, changes } = answersOf(version);
  const read = [...readFormerItems(table)].map((item) => marshall(item)) as typeof items;
  expect(sorted(byKey(read))).toEqual(sorted(byKey(items)));
  expect(JSON.stringify(read)).toContain('Before the kill 3');

  const positions = JSON.parse(readFileSync(join(folder, 'stream.json'), 'utf8'));
  const wire = (item?: object) => item && marshall(item);
  const readChanges = [...readUnhandledChanges(table, positions)].map(({ name, madeAt, before, after }) => ({
    name,
    madeAt,
    before: wire(before),
    after: wire(after),
  }));
  const expected = changes.map(({ eventName, dynamodb }) => ({
    name: eventName,
    madeAt: dynamodb.ApproximateCreationDateTime,
    before: dynamodb.OldImage,
    after: dynamodb.NewImage,
  }));
  expect(sorted(readChanges)).toEqual(sorted(expected));
  expect(JSON.stringify(readChanges)).toContain('Before the kill 3');
  expect(files()).toEqual(before);
});

it('keeps the digits of numbers, and sets, empty strings, null and nested values', () => {
  const item = {
    exact: { L: ['0', '-2.5', '9007199254740991', '1795660519253'].map((N) => ({ N })) },
    long: { L: ['9007199254740993', '9007199254740992', '0.99999999999999999999', '1E+21'].map((N) => ({ N })) },
    sets: { L: [{ SS: ['a', 'b'] }, { NS: ['1', '2'] }, { NS: ['9007199254740993'] }] },
    nested: { M: { empty: { S: '' }, no: { NULL: true }, yes: { BOOL: true }, none: { L: [] }, map: { M: {} } } },
  };
  const [read] = [...readFormerItems(open(createFile([item])))];
  expect(read?.exact).toEqual([0, -2.5, 9007199254740991, 1795660519253]);
  expect(marshall(read)).toEqual(item);
});

it('reads one state while another program writes', () => {
  const { items, changes } = answersOf('0.2.0');
  const folder = createFormerFolder('0.2.0');
  const table = open(join(folder, 'table.db'));
  const other = new DatabaseSync(join(folder, 'table.db'));
  other.exec("DELETE FROM crewboard WHERE pk = 'S:O#local#T'; DELETE FROM _stream_records");
  other.close();
  const positions = { 'shardId-00000001-crewboard': '65' };
  const [read, readChanges] = [[...readFormerItems(table)], [...readUnhandledChanges(table, positions)]];
  expect([read.length, readChanges.length]).toEqual([items.length, changes.length]);
});

const twoShards: [string, number, string][] = [
  ['b', 9, 'nine'],
  ['b', 10, 'ten'],
  ['a', 8, 'eight'],
  ['b', 11, 'eleven'],
];

it.each([
  ['after the position of each shard, in the order of their numbers', { a: '7', b: '9' }, ['eight', 'ten', 'eleven']],
  ['of a shard without a position, from its beginning', { a: '8' }, ['nine', 'ten', 'eleven']],
  ['of a shard with a position above all records, from its beginning', { a: '8', b: '12' }, ['nine', 'ten', 'eleven']],
  ['of a shard with an invalid position, from its beginning', { a: '8', b: 'x' }, ['nine', 'ten', 'eleven']],
  ['none, if all are handled', { a: '8', b: '11' }, []],
])('reads the changes %s', (_, positions, titles) => {
  const changes = [...readUnhandledChanges(open(createFile([], twoShards)), positions)];
  expect(changes.map(({ after }) => after?.title)).toEqual(titles);
});

it('reads no item of a file that the engine was killed in before it created the table', () => {
  const empty = join(mkdtempSync(join(root, 'empty-')), 'table.db');
  writeFileSync(empty, '');
  const begun = createFile();
  const file = new DatabaseSync(begun);
  file.exec('DROP TABLE crewboard; DROP TABLE _stream_records; DELETE FROM _config');
  file.close();
  for (const table of [open(empty), open(begun)])
    expect([...readFormerItems(table), ...readUnhandledChanges(table, {})]).toEqual([]);
});

it('rejects a file that is no database, and a database of another program', () => {
  const folder = mkdtempSync(join(root, 'foreign-'));
  const [text, other] = [join(folder, 'text'), join(folder, 'other')];
  writeFileSync(text, 'This is no database.\n'.repeat(100));
  const database = new DatabaseSync(other);
  database.exec('CREATE TABLE notes (text TEXT)');
  database.close();
  for (const path of [text, other])
    expect(() => openFormerTable(path)).toThrow(
      `${path} was not written by Crewboard; move it out of the data folder, or set CREWBOARD_DATA to another folder.`,
    );
});

it('rejects a file of an unknown version of the engine', () => {
  const path = createFile();
  const file = new DatabaseSync(path);
  file.exec("UPDATE _config SET value = '10'");
  file.close();
  expect(() => openFormerTable(path)).toThrow(
    `${path} was written by an unknown version of the former table engine (schema 10, not 9); start the version of Crewboard that wrote it.`,
  );
});

it.each([
  ['is too short', (path: string) => truncateSync(path, 40_960)],
  ['has a damaged page', (path: string) => writeFileSync(path, readFileSync(path).fill(0xaa, 4096 * 2))],
  [
    'has an index without the items',
    (path: string) => {
      const file = new DatabaseSync(path, { defensive: false });
      file.exec(`CREATE INDEX without ON crewboard (pk, sk) WHERE 0; PRAGMA writable_schema = ON;
        UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'without')
          WHERE name = 'sqlite_autoindex_crewboard_1'; DELETE FROM sqlite_schema WHERE name = 'without'`);
      file.close();
    },
  ],
  [
    'has an item that is not JSON',
    (path: string) => {
      const file = new DatabaseSync(path);
      file.exec("UPDATE crewboard SET item_json = '{'");
      file.close();
    },
  ],
])('reports that a file %s', (_, damage) => {
  const path = createFile(Array.from({ length: 200 }, () => ({ text: { S: 'x'.repeat(1000) } })));
  damage(path);
  expect(() => [...readFormerItems(open(path))]).toThrow(/table\.db is damaged \(.+\); restore it from a backup\./);
});
