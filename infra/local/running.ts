import { join } from 'node:path';
import { isOpen, readText } from './data-folder.ts';
import { Problem } from './problem.ts';

/** The table's name in a local deployment. */
export const tableName = 'crewboard';

/** The file in the data folder that says where the parts of a running deployment answer. */
export const addressFile = 'addresses.json';

/** Where the parts of a running deployment answer. */
export type Addresses = { url: string; dynamodbEndpoint: string };

/**
 * Finds the deployment that is running on a data folder.
 *
 * @throws `Problem` when there is none
 */
export async function findRunning(dataFolder: string): Promise<Addresses> {
  const text = isOpen(dataFolder) ? readText(join(dataFolder, addressFile)) : undefined;
  const addresses = text ? (JSON.parse(text) as Addresses) : undefined;
  const answers =
    addresses &&
    (await fetch(`${addresses.url}/health`).then(
      (answer) => answer.ok,
      () => false,
    ));
  if (!answers)
    throw new Problem(`No Crewboard is running on the data folder ${dataFolder}; start one with npm start.`);
  return addresses;
}
