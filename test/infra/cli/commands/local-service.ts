import { tableName } from '../../../../infra/local/running.ts';
import { openLocalTable } from '../../../../infra/local/table/local-table.ts';
import type { Organization } from '../../../../lib/contract/organization.ts';
import { published } from '../../../../lib/names/consumers.ts';
import { keys } from '../../../../lib/table/access/keys.ts';
import { transact } from '../../../../lib/table/access/transact.ts';
import { run, startDeployment } from '../../../journeys/deployment.ts';
import { createTask } from '../../../journeys/requests.ts';
import type { Ended } from '../../../processes/service-process.ts';
import { startTableServer } from '../../../table/fixtures/table-server.ts';

/** Starts a service on a table of the test, and returns what tests of commands need to run on its data. */
export async function startLocalService(settings: Record<string, string> = {}) {
  const { table, changes } = openLocalTable({ path: ':memory:', tableName, ...published });
  const { endpoint: dynamodbEndpoint } = await startTableServer(table, changes);
  const service = await startDeployment({ environment: { ...settings, DYNAMODB_ENDPOINT: dynamodbEndpoint } });
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
