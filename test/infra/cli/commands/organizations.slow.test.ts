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
  expect(rows.map(([name, , active]) => [name, active])).toEqual([
    ['organization', 'active tokens'],
    ['alpha', '1'],
    ['beta', '1'],
    ['local', '1'],
  ]);
  for (const [, since = ''] of rows.slice(1)) expect(new Date(since).toISOString()).toBe(since);
  for (const where of [
    ['--stack', 'Crewboard'],
    ['--table', tableName],
  ])
    expect((await crewboard(shell, 'orgs', 'list', ...where)).stdout).toBe(stdout);

  await loseRow('alpha', alpha);
  await loseRow('beta', beta);
  const reported = await crewboard(shell, 'reconcile', '--all', '--table', tableName);
  expect([reported.code, reported.stderr]).toEqual([1, '']);
  const ends = (of: typeof reported) => of.stdout.match(/^(alpha|beta) .*?\.|^All .*\.$/gm);
  const differing = ['alpha has 1 difference.', 'beta has 1 difference.', 'All lists and counts of local are correct.'];
  expect(ends(reported)).toEqual(differing);
  const fixed = await crewboard(local, 'reconcile', '--all', '--fix');
  expect([fixed.code, ends(fixed)]).toEqual([0, differing]);
  const again = await crewboard(local, 'reconcile', '--all');
  expect([again.code, ends(again)]).toEqual([
    0,
    ['alpha', 'beta', 'local'].map((name) => `All lists and counts of ${name} are correct.`),
  ]);
});
