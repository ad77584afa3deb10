import { closeSync, existsSync, openSync, readFileSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { DeleteCommand, PutCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it, vi } from 'vitest';
import { prepareReader, prepareWriter } from '../../../../../infra/local/table/file/database.ts';
import {
  databaseProblem,
  networkFileSystemOf,
  openDatabaseFile,
} from '../../../../../infra/local/table/file/open-database.ts';
import { openLocalTable } from '../../../../../infra/local/table/local-table.ts';
import { newFile, openTestTable, tableName } from '../test-table.ts';

const messageOf = (path: string) => {
  try {
    openDatabaseFile(path).close();
    return undefined;
  } catch (error) {
    return `${(error as Error).name}: ${(error as Error).message}`;
  }
};

/** Creates a table with some items, and returns its file. */
async function newTableFile(items = 50): Promise<string> {
  const path = newFile();
  const local = openLocalTable({ path, tableName, kinds: [], inThread: false });
  const puts = Array.from({ length: items }, (_, n) =>
    local.table.client.send(
      new PutCommand({ TableName: tableName, Item: { pk: 'p', sk: `${n}`, x: 'x'.repeat(500) } }),
    ),
  );
  await Promise.all(puts);
  await local.close();
  return path;
}

describe('the database file', () => {
  it('is for its owner only, and has no log after it is closed', async () => {
    const path = await newTableFile();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(existsSync(`${path}-wal`)).toBe(false);
    const local = openTestTable({ path });
    await local.table.client.send(new PutCommand({ TableName: tableName, Item: { pk: 'p', sk: 'new' } }));
    expect(['-wal', '-shm'].map((end) => statSync(path + end).mode & 0o777)).toEqual([0o600, 0o600]);
    await local.close();
    expect(existsSync(`${path}-wal`)).toBe(false);
  });

  it('may be empty, as after an interrupted creation', () => {
    const path = newFile();
    writeFileSync(path, '');
    expect(messageOf(path)).toBeUndefined();
  });

  it.each([
    ['full', 2],
    ['normal', 1],
  ] as const)(
    'flushes the log before a commit is answered, unless the durability is relaxed: %s',
    (durability, level) => {
      const database = openDatabaseFile(newFile());
      prepareWriter(database, durability);
      const pragma = (name: string) => Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0];
      expect([pragma('journal_mode'), pragma('synchronous'), pragma('fullfsync')]).toEqual(['wal', level, level - 1]);
      database.close();
    },
  );

  it('accepts short statements only, and a reader no writes', () => {
    const database = openDatabaseFile(newFile());
    prepareReader(database);
    expect(() => database.exec(`SELECT ${'1'.repeat(10_000)}`)).toThrow('string or blob too big');
    expect(() => database.exec('DELETE FROM items')).toThrow('attempt to write a readonly database');
    expect(() => database.exec("ATTACH ':memory:' AS other")).toThrow('too many attached databases');
    database.close();
  });

  it('shrinks at an opening after most items are deleted', async () => {
    const path = await newTableFile(400);
    const before = statSync(path).size;
    const local = openTestTable({ path });
    const keys = Array.from({ length: 390 }, (_, n) => ({ pk: 'p', sk: `${n}` }));
    await Promise.all(keys.map((Key) => local.table.client.send(new DeleteCommand({ TableName: tableName, Key }))));
    await local.close();
    expect(statSync(path).size).toBe(before);
    openDatabaseFile(path).close();
    expect(statSync(path).size).toBeLessThan(before / 4);
    const { Count } = await openTestTable({ path }).table.client.send(new ScanCommand({ TableName: tableName }));
    expect(Count).toBe(10);
  });

  it('of a later release is not opened', async () => {
    const path = await newTableFile();
    new DatabaseSync(path).exec('PRAGMA user_version = 2');
    expect(messageOf(path)).toBe(
      `Problem: The file ${path} was written by a later release of Crewboard (format 2, this release reads 1); start that release, or set CREWBOARD_DATA to another folder.`,
    );
  });

  it('of another program is not opened, and stays as it is', () => {
    const path = newFile();
    new DatabaseSync(path).exec('CREATE TABLE theirs (x)');
    const before = readFileSync(path);
    expect(messageOf(path)).toBe(
      `Problem: The file ${path} is not a table of Crewboard; move it away, or set CREWBOARD_DATA to another folder.`,
    );
    expect(readFileSync(path)).toEqual(before);
  });

  it('that is no database is not opened', () => {
    const path = newFile();
    writeFileSync(path, 'This is some text. '.repeat(500));
    expect(messageOf(path)).toContain(`Problem: The file ${path} is damaged (file is not a database)`);
  });

  it('with a damaged page is not opened after a crash', async () => {
    const path = await newTableFile();
    const log = new DatabaseSync(path);
    log.exec('CREATE TABLE more (x)');
    const file = openSync(path, 'r+');
    for (let page = 3; page < 6; page++) writeSync(file, Buffer.alloc(100, 0xff), 0, 100, page * 4096);
    closeSync(file);
    expect(statSync(`${path}-wal`).size).toBeGreaterThan(0);
    expect(messageOf(path)).toContain(`Problem: The file ${path} is damaged (`);
    log.close();
  });
});

describe('the problem of a table says what to do', () => {
  it.each<[string, object, string]>([
    ['a full disk', { errcode: 13 }, 'The disk of items.db is full; free some space and start again.'],
    [
      'a full disk at the creation',
      { code: 'ENOSPC' },
      'The disk of items.db is full; free some space and start again.',
    ],
    ['a read-only file', { errcode: 8 }, 'cannot be written (it failed); make it writable'],
    ['a read-only file system', { errcode: 8 | (6 << 8) }, 'cannot be written (it failed); make it writable'],
    ['a folder without rights', { code: 'EACCES' }, 'cannot be written (it failed); make it writable'],
    ['a damaged file', { errcode: 11 }, 'is damaged (it failed); replace it with a backup'],
    ['a failing disk', { errcode: 10 | (3 << 8) }, 'cannot be read or written (it failed); check its disk.'],
    ['a file that cannot be opened', { errcode: 14 }, 'cannot be read or written (it failed); check its disk.'],
  ])('%s', (_, fields, message) =>
    expect(databaseProblem(Object.assign(new Error('it failed'), fields), 'items.db')?.message).toContain(message),
  );

  it('an I/O error on a disk without free space', () => {
    const error = Object.assign(new Error('disk I/O error'), { errcode: 10 | (19 << 8) });
    const messages = [32_768, 1_000_000].map((free) => databaseProblem(error, '/data/items.db', () => free)?.message);
    expect(messages).toEqual([
      'The disk of /data/items.db is full; free some space and start again.',
      'The file /data/items.db cannot be read or written (disk I/O error); check its disk.',
    ]);
  });

  it('but not of other errors', () => expect(databaseProblem(new TypeError('a bug'), 'items.db')).toBeUndefined());

  it('for a file that cannot be written', async () => {
    const path = await newTableFile();
    const { exec } = DatabaseSync.prototype;
    const spy = vi.spyOn(DatabaseSync.prototype, 'exec').mockImplementation(function (this: DatabaseSync, sql) {
      exec.call(this, `PRAGMA query_only = ON; ${sql}`);
    });
    expect(messageOf(path)).toContain(`Problem: The file ${path} cannot be written (`);
    spy.mockRestore();
  });
});

it.each<[string, number, NodeJS.Platform, string | undefined]>([
  ['/data', 0x6969, 'linux', 'NFS'],
  ['/data', -11317950, 'linux', 'CIFS'],
  ['/data', 0xff534d42, 'linux', 'CIFS'],
  ['/data', 0x01021997, 'linux', '9P'],
  ['/data', 0xef53, 'linux', undefined],
  ['/data', 0x6969, 'darwin', undefined],
  ['\\\\server\\share', 0, 'win32', 'SMB'],
  ['C:\\data', 0, 'win32', undefined],
])('finds network file systems: %s (%i, %s)', (folder, type, platform, expected) =>
  expect(networkFileSystemOf(folder, () => type, platform)).toBe(expected),
);

describe('a backup', () => {
  it('of a table in use has all writes that were answered before', async () => {
    const local = openTestTable({ path: await newTableFile() });
    const { client } = local.table;
    await client.send(new PutCommand({ TableName: tableName, Item: { pk: 'p', sk: 'before' } }));
    const copy = newFile();
    let isCopied = false;
    const writing = (async () => {
      for (let n = 0; !isCopied; n++)
        await client.send(new PutCommand({ TableName: tableName, Item: { pk: 'later', sk: `${n}` } }));
    })();
    await local.backup(copy);
    isCopied = true;
    await writing;
    expect(statSync(copy).mode & 0o777).toBe(0o600);
    const copied = openTestTable({ path: copy });
    const { Items = [] } = await copied.table.client.send(new ScanCommand({ TableName: tableName }));
    expect(Items.filter(({ pk }) => pk === 'p')).toHaveLength(51);
  });

  it('replaces no file', async () => {
    const path = await newTableFile();
    const local = openTestTable({ path });
    await expect(local.backup(path)).rejects.toThrow(`The file ${path} exists already; name another one.`);
    await expect(local.backup('/none/items.db')).rejects.toThrow('The file /none/items.db cannot be created');
  });
});
