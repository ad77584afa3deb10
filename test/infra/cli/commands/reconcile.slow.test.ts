import { marshall } from '@aws-sdk/util-dynamodb';
import { expect, it } from 'vitest';
import { findRunning, tableName } from '../../../../infra/local/running.ts';
import type { Organization } from '../../../../lib/contract/organization.ts';
import { environment as variables } from '../../../../lib/deployment/environment.ts';
import { openTable } from '../../../../lib/table/client.ts';
import { keys } from '../../../../lib/table/keys.ts';
import { transact } from '../../../../lib/table/transact.ts';
import { dataOf } from '../../../api.ts';
import { run, startDeployment } from '../../../journeys/deployment.ts';
import { createTask, newToken } from '../../../journeys/requests.ts';
import { errorOf, startAws, xmlError } from '../aws.ts';

const service = await startDeployment();
const { environment } = await findRunning(service.dataFolder);
const dynamodbEndpoint = environment[variables.dynamodbEndpoint] as string;
const table = openTable(tableName, dynamodbEndpoint);
const local = { CREWBOARD_DATA: service.dataFolder };
const reconcile = (environment: Record<string, string>, ...args: string[]) =>
  run(['infra/cli/main.ts', 'reconcile', ...args], environment);

/** Creates an organization with two tasks, one of which is missing in its list. */
async function createInconsistent(name: string): Promise<{ name: string; total: () => Promise<number>; row: string }> {
  const token = await newToken(service, name);
  await createTask(service, 'Kept', token);
  const id = await createTask(service, 'Lost', token);
  const organization = name as Organization;
  const list = keys.taskScope(organization, {});
  const row = keys.listRow(list, 'bm', id.slice(-26));
  await transact(table, [{ Delete: { Key: row } }]);
  const query = 'status=backlog&priority=medium';
  const total = async () => dataOf<object[]>(await service.api.listTasks({ query, token })).length;
  expect(await total()).toBe(1);
  return { name, total, row: `${row.pk} ${row.sk}` };
}

it.concurrent('prints the differences, and repairs them only with --fix', async () => {
  const { name, total, row } = await createInconsistent('local-one');
  const differences = `missing     ${row}  {}\n${name} has 1 difference.`;
  const notice = 'Nothing was written. To repair them, stop everything that writes to the table and add --fix.';
  expect(await reconcile(local, '--org', name)).toMatchObject({
    ...{ code: 1, stderr: '', stdout: `${differences} ${notice}\n` },
  });
  expect(await total()).toBe(1);
  const fixed = { code: 0, stdout: `${differences} All are repaired.\n` };
  expect(await reconcile(local, '--org', name, '--fix')).toMatchObject(fixed);
  expect(await total()).toBe(2);
  const correct = { code: 0, stdout: `All lists and counts of ${name} are correct.\n` };
  expect(await reconcile(local, '--org', name, '--fix')).toMatchObject(correct);
});

it.concurrent('runs under its old name, with a notice', async () => {
  await newToken(service, 'renamed');
  const oldName = 'recount';
  const { code, stdout, stderr } = await run(['infra/cli/main.ts', oldName, '--org', 'renamed'], local);
  expect([code, stdout]).toEqual([0, 'All lists and counts of renamed are correct.\n']);
  expect(stderr).toBe(`${oldName} is now named reconcile; the next release removes the old name.\n`);
});

it.concurrent.each([
  ['', /^Name an organization with --org NAME, or use --all/],
  ['--org x --all', /cannot be used with option/],
  ['--org x --table a --stack b', /'--stack <name>' cannot be used with option '--table <name>'/],
  ['--org x --table none', /^The table none cannot be read/],
  ['--org x --stack none', /^The stack none cannot be read: No such stack/],
])('rejects %j in one sentence', async (args, message) => {
  const aws = await startAws({ 'cloudformation:DescribeStacks': () => xmlError('ValidationError', 'No such stack') });
  const shell = { ...aws.shell, AWS_ENDPOINT_URL_DYNAMODB: dynamodbEndpoint };
  expect(errorOf(await reconcile(shell, ...args.split(' ').filter(Boolean)))).toMatch(message);
});

it.concurrent('writes nothing if the second reading finds other differences', async () => {
  const row = keys.listRow(keys.taskScope('busy' as Organization, {}), '*', '01K00000000000000000000000');
  const scans = [[marshall({ pk: row.pk, sk: row.sk })], []];
  const aws = await startAws({ 'dynamodb:Scan': () => ({ body: { Items: scans.shift() ?? [] } }) });
  const error = errorOf(await reconcile(aws.shell, '--org', 'busy', '--table', 'busy', '--fix'));
  const sentence = 'a second reading found other differences, so something writes to the table.';
  expect(error).toContain(`Nothing was written: ${sentence}`);
  expect(aws.asked.map(({ action }) => action)).toEqual(['dynamodb:Scan', 'dynamodb:Scan']);
});
