import { expect, it } from 'vitest';
import { findRunning, tableName } from '../../../../infra/local/running.ts';
import type { Organization } from '../../../../lib/contract/organization.ts';
import { environment as variables } from '../../../../lib/deployment/environment.ts';
import { openTable } from '../../../../lib/table/client.ts';
import { keys } from '../../../../lib/table/keys.ts';
import { transact } from '../../../../lib/table/transact.ts';
import { run, startDeployment } from '../../../journeys/deployment.ts';
import { createTask, newToken } from '../../../journeys/requests.ts';
import { describedStack, startAws } from '../aws.ts';

const service = await startDeployment();
const { environment } = await findRunning(service.dataFolder);
const dynamodbEndpoint = environment[variables.dynamodbEndpoint] as string;
const table = openTable(tableName, dynamodbEndpoint);
const local = { CREWBOARD_DATA: service.dataFolder };
const crewboard = (shell: Record<string, string>, ...args: string[]) => run(['infra/cli/main.ts', ...args], shell);
const aws = await startAws({
  'cloudformation:DescribeStacks': () => describedStack({ TableName: tableName }),
});
const shell = { ...aws.shell, AWS_ENDPOINT_URL_DYNAMODB: dynamodbEndpoint };

/** Deletes the row of a new task from a list of its organization. */
async function loseRow(organization: string, token: string): Promise<void> {
  const id = await createTask(service, 'Lost', token);
  const list = keys.taskScope(organization as Organization, {});
  await transact(table, [{ Delete: { Key: keys.listRow(list, 'bm', id.slice(-26)) } }]);
}

it('lists organizations with their active tokens, and reconciles all of them', async () => {
  const [beta, alpha] = [await newToken(service, 'beta'), await newToken(service, 'alpha')];
  const second = await newToken(service, 'alpha');
  await crewboard(local, 'token', 'revoke', second);

  const { code, stdout, stderr } = await crewboard(local, 'orgs', 'list');
  expect([code, stderr]).toEqual([0, '']);
  const rows = stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.split(/ {2,}/));
  const active = ['organization active tokens', 'alpha 1', 'beta 1', 'local 1'];
  expect(rows.map(([name, , count]) => `${name} ${count}`)).toEqual(active);
  for (const [, since = ''] of rows.slice(1)) expect(new Date(since).toISOString()).toBe(since);
  expect((await crewboard(shell, 'orgs', 'list', '--stack', 'Crewboard')).stdout).toBe(stdout);
  expect((await crewboard(shell, 'orgs', 'list', '--table', tableName)).stdout).toBe(stdout);

  await loseRow('alpha', alpha);
  await loseRow('beta', beta);
  const reconcileAll = async (shell: Record<string, string>, ...args: string[]) => {
    const { code, stdout } = await crewboard(shell, 'reconcile', '--all', ...args);
    return [code, stdout.match(/^(alpha|beta) .*?\.|^All .*\.$/gm)];
  };
  const correct = (name: string) => `All lists and counts of ${name} are correct.`;
  const differing = ['alpha has 1 difference.', 'beta has 1 difference.', correct('local')];
  expect(await reconcileAll(shell, '--table', tableName)).toEqual([1, differing]);
  expect(await reconcileAll(local, '--fix')).toEqual([0, differing]);
  expect(await reconcileAll(local)).toEqual([0, ['alpha', 'beta', 'local'].map(correct)]);
});
