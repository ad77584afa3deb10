import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTable } from '../../infra/local/engine/create-table.ts';
import { type Engine, startEngine } from '../../infra/local/engine/engine.ts';
import { createContext } from '../../lib/context.ts';
import type { Organization } from '../../lib/contract/organization.ts';
import { environment } from '../../lib/deployment/environment.ts';
import { tableSchema } from '../../lib/deployment/table-schema.ts';
import { issueToken } from '../../lib/http/issue-token.ts';
import { openTable, type Table } from '../../lib/table/client.ts';
import { boardItems, withoutStream, writeItems } from '../table/tasks/seed.ts';
import { type Bench, createFolder } from './bench.ts';
import { figure } from './figures.ts';
import { tasksOfBoard } from './list-boards.ts';
import { engineVersion } from './machine.ts';

/** A board in the table: its number of tasks, its organization, and a token of that. */
export type ListBoard = { count: number; organization: Organization; token: string };

/** A table that is only read: the endpoint of its engine, and its boards. */
export type ListTable = { endpoint: string; boards: readonly ListBoard[] };

/** Written when the table is whole: from which rows it was made, and its boards. */
type Made = { rows: string; boards: ListBoard[] };

/** The table's name in its engine. */
export const listTableName = 'lists';

/** Boards up to this size are hashed whole; larger ones are made by the same functions. */
const hashedUpTo = 1_000;

/**
 * Opens a table with boards of these sizes, each an organization's. It is made where the folder has none, or one that
 * today's code would not have written, and kept: writing 100,000 tasks takes longer than measuring them.
 */
export async function openListTable(bench: Bench, folder: string, counts: readonly number[]): Promise<ListTable> {
  const rows = rowsHash(counts);
  let made = readMade(folder);
  if (made?.rows !== rows) {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    made = { rows, boards: await makeTable(bench, folder, counts) };
    writeFileSync(madeFile(folder), JSON.stringify(made), { mode: 0o600 });
  }
  const { endpoint } = await openEngine(bench, folder);
  return { endpoint, boards: made.boards };
}

/** Names the rows of boards of these sizes: another hash, other rows. */
function rowsHash(counts: readonly number[]): string {
  const items = counts
    .filter((count) => count <= hashedUpTo)
    .map((count) => boardItems(organizationOf(count), tasksOfBoard(count)));
  return createHash('sha256')
    .update(JSON.stringify([engineVersion(), tableSchema, counts, items]))
    .digest('hex');
}

const organizationOf = (count: number) => `org-${count}` as Organization;

const madeFile = (folder: string) => join(folder, 'made.json');

function readMade(folder: string): Made | undefined {
  return existsSync(madeFile(folder)) ? (JSON.parse(readFileSync(madeFile(folder), 'utf8')) as Made) : undefined;
}

/** The engine's file of the table. */
const databaseFile = (folder: string) => join(folder, 'table.db');

async function openEngine(bench: Bench, folder: string): Promise<Engine> {
  const engine = await startEngine({ database: databaseFile(folder), log: join(folder, 'engine.log') });
  bench.atEnd(engine.stop);
  return engine;
}

/** Creates the table with another engine, because the measured engine must not have written before. */
async function makeTable(bench: Bench, folder: string, counts: readonly number[]): Promise<ListBoard[]> {
  const temporary = createFolder(bench, fastParent());
  const { endpoint, stop } = await openEngine(bench, temporary);
  await createTable(endpoint, listTableName);
  const table = openTable(listTableName, endpoint);
  await withoutStream(table);
  const app = createContext({
    environment: { [environment.tableName]: listTableName, [environment.dynamodbEndpoint]: endpoint },
    clock: Date.now,
  });
  const boards: ListBoard[] = [];
  for (const count of counts) {
    const organization = organizationOf(count);
    await writeBoard(bench, table, organization, count);
    const token = await issueToken(app, { organization, scopes: ['tasks:read'] });
    boards.push({ count, organization, token });
  }
  await stop();
  copyFileSync(databaseFile(temporary), databaseFile(folder));
  rmSync(databaseFile(temporary));
  return boards;
}

/**
 * Returns a folder in memory if there is enough space. On a disk the engine waits at each commit, which takes most of the
 * time, and this table may be lost.
 */
function fastParent(): string {
  const memory = '/dev/shm';
  if (!existsSync(memory)) return tmpdir();
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize > 2 ** 30 ? memory : tmpdir();
}

async function writeBoard({ say }: Bench, table: Table, organization: Organization, count: number): Promise<void> {
  const items = boardItems(organization, tasksOfBoard(count));
  say(`writing a board of ${figure(count)} tasks, once for all runs to come: ${figure(items.length)} items`);
  let reported = 0;
  await writeItems(table, items, (written) => {
    const percent = Math.floor((10 * written) / items.length) * 10;
    // Small tables take too little time for a report.
    if (percent > reported && count >= 10_000) say(`${percent} % of ${figure(count)} tasks`);
    reported = percent;
  });
}
