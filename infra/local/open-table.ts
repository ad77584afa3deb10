import { published } from '../../lib/names/consumers.ts';
import type { Table } from '../../lib/table/access/client.ts';
import { type DataFolder, dataFiles, dataPath } from './data-folder.ts';
import { createTable } from './other-engine/create-table.ts';
import { createStreamChanges } from './other-engine/stream-changes.ts';
import { createPositionStore } from './other-engine/stream-positions.ts';
import { tableName } from './running.ts';
import type { LocalSettings } from './settings.ts';
import type { Changes } from './table/changes/changes.ts';
import { startExpiry } from './table/expiry.ts';
import { openLocalTable } from './table/local-table.ts';
import { tableFiles } from './upgrade/create-table-file.ts';
import { takeOverFormerTable } from './upgrade/take-over.ts';

/** The open table of a data folder, or the table of another engine. */
export type OpenTable = {
  /** The table in this process; `undefined` for another engine, whose table the SDK reaches. */
  table: Table | undefined;
  /** Copies the database to a new file; `undefined` for another engine. */
  backup: ((path: string) => Promise<void>) | undefined;
  changes: Changes;
  /** What this start has done with the data of an earlier version, as a sentence; `undefined` if nothing. */
  upgraded: string | undefined;
  /** Resolves if the table cannot be used any more. */
  ended: Promise<void>;
  close: () => Promise<void>;
};

/**
 * Opens the table that the settings name: the table in the data folder, which it creates if there is none, or the table of
 * another engine.
 *
 * @param use `inThread`: writes do not wait on the event loop, and expired items are deleted, as a service needs it
 * @throws `Problem` if the file cannot be used or the engine does not answer
 */
export async function openDataTable(
  settings: LocalSettings,
  data: DataFolder,
  use: { inThread: boolean },
): Promise<OpenTable> {
  const { dynamodbEndpoint: endpoint, durability } = settings;
  if (endpoint !== undefined) {
    await createTable(endpoint, tableName);
    return {
      table: undefined,
      backup: undefined,
      changes: createStreamChanges({
        endpoint,
        tableName,
        ...published,
        positions: createPositionStore(data),
      }),
      upgraded: undefined,
      ended: new Promise(() => {}),
      close: async () => {},
    };
  }
  const upgraded = takeOverFormerTable(data, dataFiles.table, tableFiles(published.kinds));
  const path = dataPath(data, dataFiles.table);
  const local = openLocalTable({ path, tableName, ...published, durability, ...use });
  const stopExpiry = use.inThread ? startExpiry(local) : async () => {};
  return {
    ...local,
    upgraded,
    close: async () => {
      await stopExpiry();
      await local.close();
    },
  };
}
