import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Context, createContext } from '../../lib/context/context.ts';
import { Problem } from '../problem.ts';
import { removeFormerAddresses } from './commands/command-address.ts';
import { closeDataFolder, type DataFolder, dataFiles, openDataFolder } from './data-folder.ts';
import { functionEnvironment } from './function-environment.ts';
import { type OpenTable, openDataTable } from './open-table.ts';
import type { LocalSettings } from './settings.ts';

/** The context of a data folder on which no service runs. `close` ends its use. */
export type LocalContext = { context: Context; close: () => Promise<void> } & Pick<OpenTable, 'backup'>;

/**
 * Opens the table of a data folder in this process, for a command without a running service. The folder is locked until
 * `close`. All files that this process creates from now on are for their owner only.
 *
 * @throws `Problem` if the folder has no table, or if a service or another command uses it
 */
export async function openLocalContext(settings: LocalSettings): Promise<LocalContext> {
  const { dataFolder, dynamodbEndpoint } = settings;
  // A wrong CREWBOARD_DATA must not create a new table.
  const { lock, table, formerTable } = dataFiles;
  if (!(dynamodbEndpoint ? [lock] : [table, formerTable]).some((name) => existsSync(join(dataFolder, name))))
    throw new Problem(`No Crewboard is running on the data folder ${dataFolder}; start one with npm start.`);
  process.umask(0o077);
  const data = openDataFolder(dataFolder);
  try {
    removeFormerAddresses(data);
    return await openContext(settings, data);
  } catch (error) {
    closeDataFolder(data);
    throw error;
  }
}

async function openContext(settings: LocalSettings, data: DataFolder): Promise<LocalContext> {
  const { table, backup, close } = await openDataTable(settings, data, { inThread: false });
  const context = createContext({
    environment: functionEnvironment(settings, data),
    clock: Date.now,
    ...(table && { table }),
  });
  return {
    context,
    backup,
    close: async () => {
      await close();
      closeDataFolder(data);
    },
  };
}
