import { join } from 'node:path';
import { dataFiles, isOpen, readText } from './data-folder.ts';
import { Problem } from './problem.ts';

/** The name of the table in a local deployment. */
export const tableName = 'crewboard';

/**
 * A running deployment: the URL of its API, and the environment variables of its functions, with the key of its queues. The
 * file `addresses.json` in the data folder has it as JSON.
 */
export type Running = { url: string; environment: Record<string, string> };

/**
 * Finds the deployment that is running on a data folder.
 *
 * @throws `Problem` if none is running
 */
export async function findRunning(dataFolder: string): Promise<Running> {
  const text = isOpen(dataFolder) ? readText(join(dataFolder, dataFiles.addresses)) : undefined;
  const running = text ? (JSON.parse(text) as Running) : undefined;
  const answers =
    running &&
    (await fetch(`${running.url}/health`).then(
      (answer) => answer.ok,
      () => false,
    ));
  if (!answers)
    throw new Problem(`No Crewboard is running on the data folder ${dataFolder}; start one with npm start.`);
  return running;
}
