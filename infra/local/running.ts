import { join } from 'node:path';
import { Problem } from '../problem.ts';
import { dataFiles, isFolderOpen, readTextIfAny } from './data-folder.ts';

/** The name of the table in a local deployment. */
export const tableName = 'crewboard';

/**
 * A running deployment: the URL of its API, and the socket or named pipe that accepts commands of operators, if it accepts
 * any. The file `addresses.json` in the data folder has it as JSON.
 */
export type Running = { url: string; commands?: string | undefined };

/** Returns the addresses in a data folder, of a deployment that runs or has been killed; `undefined` if there are none. */
export function readRunning(dataFolder: string): Running | undefined {
  try {
    return JSON.parse(readTextIfAny(join(dataFolder, dataFiles.addresses)) ?? 'null') ?? undefined;
  } catch {
    // The file is damaged. A start writes it anew.
    return undefined;
  }
}

/**
 * Finds the deployment that is running on a data folder.
 *
 * @throws `Problem` if none is running
 */
export async function findRunning(dataFolder: string): Promise<Running> {
  const running = isFolderOpen(dataFolder) ? readRunning(dataFolder) : undefined;
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
