import { type DataFolder, dataFiles, dataPath } from '../data-folder.ts';
import { tableName } from '../running.ts';
import type { Settings } from '../settings.ts';
import { createPositionStore } from '../stream/stream-positions.ts';
import { createTable } from './create-table.ts';
import { type Engine, startEngine } from './engine.ts';

/**
 * Opens the table's engine: the one that the settings name, or the bundled one on the data folder. Creates the table if it
 * does not exist.
 *
 * @throws `Problem` if the engine cannot be started or does not answer
 */
export async function openEngine({ dynamodbEndpoint }: Settings, data: DataFolder): Promise<Engine> {
  const engine = dynamodbEndpoint
    ? { endpoint: dynamodbEndpoint, ended: new Promise<void>(() => {}), stop: async () => {} }
    : await startBundled(data);
  try {
    await createTable(engine.endpoint, tableName);
    return engine;
  } catch (error) {
    await engine.stop();
    throw error;
  }
}

function startBundled(data: DataFolder): Promise<Engine> {
  const files = { database: dataPath(data, dataFiles.table), log: dataPath(data, dataFiles.engineLog) };
  return startEngine(files, createPositionStore(data));
}
