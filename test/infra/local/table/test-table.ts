import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type LocalTable, type LocalTableOptions, openLocalTable } from '../../../../infra/local/table/local-table.ts';
import { createTemporaryFolder } from '../../../temporary-files.ts';

export const tableName = 'test';

/** Opens a table in memory, or in the file that the options name. It is closed after the test. */
export function openTestTable(options: Partial<LocalTableOptions> = {}): LocalTable {
  const local = openLocalTable({ path: ':memory:', tableName, kinds: ['task'], ...options });
  onTestFinished(() => local.close());
  return local;
}

/** Returns the path of a new database file. */
export const newFile = () => join(createTemporaryFolder(), 'items.db');
