import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UpdateTableCommand } from '@aws-sdk/client-dynamodb';
import { createTable } from '../../infra/local/engine/create-table.ts';
import { startEngine } from '../../infra/local/engine/engine.ts';
import { tableName } from '../../infra/local/running.ts';
import type { Organization } from '../../lib/contract/organization.ts';
import { openTable } from '../../lib/table/client.ts';
import { bareTasks, seed } from '../table/seed.ts';

const yearMs = 365 * 24 * 60 * 60 * 1000;

/**
 * Puts a table into a data folder of the service, with a board of so many tasks that were made over the last year.
 * Written in memory where that can be, for the engine waits for the disk at each commit.
 */
export async function putBoard(dataFolder: string, tasks: number): Promise<void> {
  const memory = '/dev/shm';
  const folder = mkdtempSync(join(existsSync(memory) ? memory : tmpdir(), 'crewboard-bench-'));
  try {
    await writeBoard(folder, tasks);
    copyFileSync(join(folder, 'table.db'), join(dataFolder, 'table.db'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Writes the table. Its stream is off meanwhile: nobody is to be told of these tasks. */
async function writeBoard(folder: string, tasks: number): Promise<void> {
  const engine = await startEngine({ database: join(folder, 'table.db'), log: join(folder, 'engine.log') });
  try {
    await createTable(engine.endpoint, tableName);
    const table = openTable(tableName, engine.endpoint);
    const stream = (StreamSpecification: { StreamEnabled: boolean; StreamViewType?: 'NEW_AND_OLD_IMAGES' }) =>
      table.client.send(new UpdateTableCommand({ TableName: tableName, StreamSpecification }));
    await stream({ StreamEnabled: false });
    const from = Date.now() - yearMs;
    const timeAt = (nth: number) => from + Math.floor((nth * yearMs) / tasks);
    await seed(table, 'local' as Organization, bareTasks(tasks, timeAt));
    await stream({ StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' });
    table.client.destroy();
  } finally {
    await engine.stop();
  }
}
