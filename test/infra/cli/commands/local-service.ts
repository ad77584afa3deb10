import { join } from 'node:path';
import { startEngine } from '../../../../infra/local/engine/engine.ts';
import { tableName } from '../../../../infra/local/running.ts';
import type { Organization } from '../../../../lib/contract/organization.ts';
import { openTable } from '../../../../lib/table/client.ts';
import { keys } from '../../../../lib/table/keys.ts';
import { transact } from '../../../../lib/table/transact.ts';
import { atEndOfFile } from '../../../end-of-file.ts';
import { newFolder, run, startDeployment } from '../../../journeys/deployment.ts';
import { createTask } from '../../../journeys/requests.ts';
import type { Ended } from '../../../service-process.ts';

/** Starts a service on an engine of the test, and returns what tests of commands need to run on its data. */
export async function startLocalService(settings: Record<string, string> = {}) {
  const folder = newFolder();
  const engine = await startEngine({ database: join(folder, 'own.db'), log: join(folder, 'engine.log') });
  atEndOfFile(engine.stop);
  const dynamodbEndpoint = engine.endpoint;
  const service = await startDeployment({ environment: { ...settings, DYNAMODB_ENDPOINT: dynamodbEndpoint } });
  const table = openTable(tableName, dynamodbEndpoint);
  return {
    ...{ service, dynamodbEndpoint, table },

    crewboard: (...args: string[]): Promise<Ended> => crewboardIn({ CREWBOARD_DATA: service.dataFolder }, ...args),

    /** Creates a task that is missing in a list of its organization. Returns the key of the missing row. */
    loseRow: async (organization: string, token: string): Promise<string> => {
      const id = await createTask(service, 'Lost', token);
      const Key = keys.listRow(keys.taskScope(organization as Organization, {}), 'bm', id.slice(-26));
      await transact(table, [{ Delete: { Key } }]);
      return `${Key.pk} ${Key.sk}`;
    },
  };
}

export const crewboardIn = (shell: Record<string, string>, ...args: string[]): Promise<Ended> =>
  run(['infra/cli/main.ts', ...args], shell);

export const columnsOf = (stdout: string): string[][] =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.split(/ {2,}/));
