import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { PutCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { expect, it } from 'vitest';
import type { LocalTable } from '../../../../../infra/local/table/local-table.ts';
import { newFile, openTestTable, tableName } from '../test-table.ts';

const put = ({ table }: LocalTable, sk: string) =>
  table.client.send(new PutCommand({ TableName: tableName, Item: { pk: 'p', sk, x: 'x'.repeat(500) } }));

const keysIn = async ({ table }: LocalTable) =>
  (await table.client.send(new ScanCommand({ TableName: tableName }))).Items?.map(({ sk }) => sk);

/** Returns the files beside a path whose names begin with its name. */
const filesOf = (path: string) => readdirSync(dirname(path)).filter((name) => name.startsWith(basename(path)));

it('copies all answered writes while others are made, into a file for its owner only', async () => {
  const local = openTestTable({ path: newFile() });
  const answered = Array.from({ length: 50 }, (_, n) => `${n}`.padStart(3, '0'));
  await Promise.all(answered.map((sk) => put(local, sk)));
  const later = Promise.all(['later 1', 'later 2'].map((sk) => put(local, sk)));
  const copy = join(dirname(newFile()), `copy-${process.hrtime.bigint()}.db`);
  await local.backup(copy);
  await later;
  expect([filesOf(copy), statSync(copy).mode & 0o777]).toEqual([[basename(copy)], 0o600]);
  expect(await keysIn(openTestTable({ path: copy }))).toEqual(expect.arrayContaining(answered));
});

it('reports a file that exists, or that cannot be created, and leaves no file behind', async () => {
  const local = openTestTable({ path: newFile() });
  const copy = join(dirname(newFile()), `taken-${process.hrtime.bigint()}.db`);
  writeFileSync(copy, 'mine');
  await expect(local.backup(copy)).rejects.toThrow(`The file ${copy} exists already; name another one.`);
  expect(statSync(copy).size).toBe(4);
  await expect(local.backup('/dev/null/copy.db')).rejects.toThrow(
    /^The file \/dev\/null\/copy\.db cannot be created \(ENOTDIR: .*\); name another one\.$/,
  );
  writeFileSync(`${copy}2.new`, '');
  await expect(local.backup(`${copy}2`)).rejects.toThrow(`The file ${copy}2.new of another backup exists;`);
  expect(existsSync(`${copy}2`)).toBe(false);
});
