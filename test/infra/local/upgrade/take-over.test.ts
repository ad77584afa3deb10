import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it, onTestFinished } from 'vitest';
import { closeDataFolder, openDataFolder } from '../../../../infra/local/data-folder.ts';
import {
  closeFormerTable,
  openFormerTable,
  readFormerItems,
  readUnhandledChanges,
} from '../../../../infra/local/upgrade/former-table.ts';
import { type CreateTableFile, takeOverFormerTable } from '../../../../infra/local/upgrade/take-over.ts';
import { createTemporaryFolder } from '../../../temporary-files.ts';
import { createFormerFolder, formerVersions } from './former-folders.ts';
import { plainTables, readPlainTable } from './plain-table.ts';

const version = '0.2.0';
const root = createTemporaryFolder();

/** Takes the table of a folder over into `new.db`, in a time of two seconds. Returns the sentence. */
function takeOver(folder: string, create: CreateTableFile = plainTables()): string | undefined {
  const data = openDataFolder(folder);
  let now = 0;
  try {
    return takeOverFormerTable(data, 'new.db', create, () => (now += 2000));
  } finally {
    closeDataFolder(data);
  }
}

/** Reads a former table with the positions of its folder. */
function readFormer(folder: string, name = 'table.db') {
  const table = openFormerTable(join(folder, name));
  try {
    const positions = JSON.parse(readFileSync(join(folder, 'stream.json'), 'utf8'));
    return { items: [...readFormerItems(table)], changes: [...readUnhandledChanges(table, positions)] };
  } finally {
    closeFormerTable(table);
  }
}

/** Creates the folder of a version, and returns it with what its former table has. */
function createFolder(of: (typeof formerVersions)[number] = version) {
  const folder = createFormerFolder(of);
  const former = readFormer(folder);
  const inKeyOrder = [...former.items].sort((a, b) => (`${a.pk} ${a.sk}` < `${b.pk} ${b.sk}` ? -1 : 1));
  return { folder, former: { ...former, items: inKeyOrder } };
}

/** The files of the table and its stream in a folder. */
const tableFiles = (folder: string) => readdirSync(folder).filter((name) => /\.db|^stream/.test(name));

const contents = (folder: string) =>
  Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'base64')]));

it.each(formerVersions)('takes over all items and unhandled changes of %s, and keeps its file', (of) => {
  const { folder, former } = createFolder(of);
  const positions = readFileSync(join(folder, 'stream.json'));
  const sentence = takeOver(folder);
  expect(sentence).toBe(
    `Took over ${former.items.length} items and ${former.changes.length} unhandled changes from ${folder}/table.db in 2.0 s; the former file is kept as ${folder}/table.db.before-upgrade.`,
  );
  expect(readPlainTable(join(folder, 'new.db'))).toEqual(former);
  expect(tableFiles(folder)).toEqual(['new.db', 'table.db.before-upgrade']);
  writeFileSync(join(folder, 'stream.json'), positions);
  const { items, changes } = readFormer(folder, 'table.db.before-upgrade');
  expect([items.length, changes]).toEqual([former.items.length, former.changes]);
});

it('does nothing at the second start, nor in a new folder', () => {
  const { folder } = createFolder();
  takeOver(folder);
  const before = contents(folder);
  const never: CreateTableFile = () => expect.unreachable('a table was created');
  expect([takeOver(folder, never), takeOver(mkdtempSync(join(root, 'new-')), never)]).toEqual([undefined, undefined]);
  expect(contents(folder)).toEqual(before);
});

it('begins again if it was killed while it wrote', () => {
  const { folder, former } = createFolder();
  writeFileSync(join(folder, 'new.db.new'), 'The start of a table');
  writeFileSync(join(folder, 'new.db.new-journal'), 'The start of a journal');
  takeOver(folder);
  expect(readPlainTable(join(folder, 'new.db'))).toEqual(former);
  expect(tableFiles(folder)).toEqual(['new.db', 'table.db.before-upgrade']);
});

it('begins again if it was killed between the writing and the renaming, because the former table may have changed', () => {
  const { folder } = createFolder();
  takeOver(folder);
  renameSync(join(folder, 'new.db'), join(folder, 'new.db.new'));
  renameSync(join(folder, 'table.db.before-upgrade'), join(folder, 'table.db'));
  const file = new DatabaseSync(join(folder, 'table.db'));
  file.exec("DELETE FROM crewboard WHERE pk <> 'S:HEARTBEAT'");
  file.close();
  expect(takeOver(folder)).toContain('Took over 1 item and');
  expect(readPlainTable(join(folder, 'new.db')).items).toHaveLength(1);
});

it('goes on if it was killed between the renaming of both files', () => {
  const { folder, former } = createFolder();
  takeOver(folder);
  renameSync(join(folder, 'new.db'), join(folder, 'new.db.new'));
  const left = ['stream.json', 'table.db-wal', 'table.db-shm', 'new.db.new-journal'];
  for (const name of left) writeFileSync(join(folder, name), '');
  expect(takeOver(folder, () => expect.unreachable('a table was created'))).toBe(
    `Completed the interrupted upgrade of ${folder}/table.db; the former file is kept as ${folder}/table.db.before-upgrade.`,
  );
  expect(readPlainTable(join(folder, 'new.db'))).toEqual(former);
  expect(tableFiles(folder)).toEqual(['new.db', 'table.db.before-upgrade']);
});

it('says how much room it needs if the disk is full, and leaves the folder as it was', () => {
  const { folder, former } = createFolder();
  const before = contents(folder);
  expect(() => takeOver(folder, plainTables(20))).toThrow(
    `The table of an earlier version, ${folder}/table.db, was not taken over: the disk is full. Free space for a second file of 1 MB, then start the service again. The file was not changed.`,
  );
  const after = contents(folder);
  for (const name of Object.keys(before))
    expect([name, after[name] === before[name] || name.endsWith('-shm')]).toEqual([name, true]);
  expect(existsSync(join(folder, 'new.db.new'))).toBe(false);
  takeOver(folder);
  expect(readPlainTable(join(folder, 'new.db'))).toEqual(former);
});

it('reports other errors of the file system', () => {
  const { folder } = createFolder();
  const create: CreateTableFile = (path, fill) => plainTables()(join(path, 'no', 'folder'), fill);
  expect(() => takeOver(folder, create)).toThrow(
    /was not taken over: unable to open database file\. Correct this, then start the service again\. The file was not changed\.$/,
  );
});

it('does not explain an error of the program', () => {
  const fault = new TypeError('a fault');
  const create: CreateTableFile = () => {
    throw fault;
  };
  expect(() => takeOver(createFolder().folder, create)).toThrow(fault);
});

it('leaves a former table that another program uses where it is', () => {
  const { folder, former } = createFolder();
  const other = new DatabaseSync(join(folder, 'table.db'));
  onTestFinished(() => {
    if (other.isOpen) other.close();
  });
  other.exec('BEGIN; SELECT * FROM crewboard');
  expect(() => takeOver(folder)).toThrow(
    `Another program uses ${folder}/table.db; end it and start the service again.`,
  );
  expect(existsSync(join(folder, 'new.db'))).toBe(false);
  other.close();
  takeOver(folder);
  expect(readPlainTable(join(folder, 'new.db'))).toEqual(former);
});

it('rejects a folder with a table of each version, of which it does not know the newer one', () => {
  const { folder } = createFolder();
  takeOver(folder);
  copyFileSync(join(folder, 'table.db.before-upgrade'), join(folder, 'table.db'));
  expect(() => takeOver(folder)).toThrow(
    `The data folder has the tables ${folder}/new.db and, of an earlier version, ${folder}/table.db; move the one that you do not need out of the folder.`,
  );
  rmSync(join(folder, 'new.db'));
  expect(() => takeOver(folder)).toThrow(
    `${folder}/table.db.before-upgrade of an earlier upgrade is in the way of this one; move it out of the data folder.`,
  );
});

it('leaves a file that is no former table as it is', () => {
  const folder = mkdtempSync(join(root, 'foreign-'));
  writeFileSync(join(folder, 'table.db'), 'no database '.repeat(100));
  expect(() => takeOver(folder)).toThrow(`${folder}/table.db was not written by Crewboard;`);
  expect(tableFiles(folder)).toEqual(['table.db']);
});
