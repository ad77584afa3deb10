import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTable } from '../../infra/local/engine/create-table.ts';
import { startEngine } from '../../infra/local/engine/engine.ts';
import { createContext } from '../../lib/context.ts';
import type { Organization } from '../../lib/contract/organization.ts';
import { environment } from '../../lib/deployment/environment.ts';
import { tableSchema } from '../../lib/deployment/table-schema.ts';
import { issueToken } from '../../lib/http/issue-token.ts';
import { openTable } from '../../lib/table/client.ts';
import { boardItems, withoutStream, writeItems } from '../table/tasks/seed.ts';
import type { Bench } from './bench.ts';
import { figure } from './figures.ts';
import { tasksOfBoard } from './list-boards.ts';
import { engineVersion } from './machine.ts';

/** A board in the table: its number of tasks, its organization, and a token of that. */
export type ListBoard = { count: number; organization: Organization; token: string };

/** The table's name in its engine. */
export const listTableName = 'lists';

/** Boards up to this size are hashed whole; larger ones are made by the same functions. */
const hashedUpTo = 1_000;

/**
 * Opens a table with boards of these sizes, each an organization's. The table is made where the folder has none, or one
 * that today's code would not have written, and kept: writing 100,000 tasks takes longer than measuring them.
 */
export async function openListTable(
  bench: Bench,
  folder: string,
  counts: readonly number[],
): Promise<{ endpoint: string; boards: readonly ListBoard[] }> {
  const files = { database: join(folder, 'table.db'), log: join(folder, 'engine.log') };
  const madeFile = join(folder, 'made.json');
  const hash = hashOf(counts);
  const made = existsSync(madeFile) ? JSON.parse(readFileSync(madeFile, 'utf8')) : undefined;
  let boards: ListBoard[] = made?.hash === hash ? made.boards : [];
  if (boards.length === 0) {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    // The measured engine must not have written before.
    const writing = await startEngine(files);
    bench.atEnd(writing.stop);
    boards = await writeBoards(bench, writing.endpoint, counts);
    await writing.stop();
    writeFileSync(madeFile, JSON.stringify({ hash, boards }), { mode: 0o600 });
  }
  const { endpoint, stop } = await startEngine(files);
  bench.atEnd(stop);
  return { endpoint, boards };
}

const organizationOf = (count: number) => `org-${count}` as Organization;

/** Identifies the items of boards of these sizes. */
function hashOf(counts: readonly number[]): string {
  const hashed = counts.filter((count) => count <= hashedUpTo);
  const items = hashed.map((count) => boardItems(organizationOf(count), tasksOfBoard(count)));
  const text = JSON.stringify([engineVersion(), tableSchema, counts, items]);
  return createHash('sha256').update(text).digest('hex');
}

async function writeBoards({ say }: Bench, endpoint: string, counts: readonly number[]): Promise<ListBoard[]> {
  await createTable(endpoint, listTableName);
  const table = openTable(listTableName, endpoint);
  await withoutStream(table);
  const context = createContext({
    environment: { [environment.tableName]: listTableName, [environment.dynamodbEndpoint]: endpoint },
    clock: Date.now,
  });
  const boards: ListBoard[] = [];
  for (const count of counts) {
    say(`writing a board of ${figure(count)} tasks, once for all runs to come`);
    const organization = organizationOf(count);
    await writeItems(table, boardItems(organization, tasksOfBoard(count)));
    boards.push({ count, organization, token: await issueToken(context, { organization, scopes: ['tasks:read'] }) });
  }
  return boards;
}
