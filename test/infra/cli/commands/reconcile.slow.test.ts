import { expect, it } from 'vitest';
import { findRunning, tableName } from '../../../../infra/local/running.ts';
import type { Organization } from '../../../../lib/contract/organization.ts';
import { environment as variables } from '../../../../lib/deployment/environment.ts';
import { openTable } from '../../../../lib/table/client.ts';
import { type Key, keys } from '../../../../lib/table/keys.ts';
import { transact } from '../../../../lib/table/transact.ts';
import { dataOf } from '../../../api.ts';
import { run, startDeployment } from '../../../journeys/deployment.ts';
import { createTask, newToken } from '../../../journeys/requests.ts';
import { describedStack, errorOf, startAws, xmlError } from '../aws.ts';

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
  const reported = await reconcile(local, '--org', name);
  expect([reported.code, reported.stderr]).toEqual([1, '']);
  expect(reported.stdout).toBe(
    `missing     ${row}  {}\n${name} has 1 difference. Nothing was written. To repair them, stop everything that writes to the table and add --fix.\n`,
  );
  expect(await total()).toBe(1);
  const fixed = await reconcile(local, '--org', name, '--fix');
  expect([fixed.code, fixed.stdout]).toEqual([
    0,
    `missing     ${row}  {}\n${name} has 1 difference. All are repaired.\n`,
  ]);
  expect(await total()).toBe(2);
  const again = await reconcile(local, '--org', name, '--fix');
  expect([again.code, again.stdout]).toEqual([0, `All lists and counts of ${name} are correct.\n`]);
});

it.concurrent('runs under its old name, with a notice', async () => {
  await newToken(service, 'renamed');
  const oldName = 'recount';
  const { code, stdout, stderr } = await run(['infra/cli/main.ts', oldName, '--org', 'renamed'], local);
  expect([code, stdout]).toEqual([0, 'All lists and counts of renamed are correct.\n']);
  expect(stderr).toBe(`${oldName} is now named reconcile; the next release removes the old name.\n`);
});

it.concurrent('uses the table of a stack, or a named table', async () => {
  const { name, total } = await createInconsistent('deployed-one');
  const aws = await startAws({ 'cloudformation:DescribeStacks': () => describedStack({ TableName: tableName }) });
  const shell = { ...aws.shell, AWS_ENDPOINT_URL_DYNAMODB: dynamodbEndpoint };
  expect((await reconcile(shell, '--org', name, '--stack', 'Crewboard')).code).toBe(1);
  expect(await total()).toBe(1);
  expect((await reconcile(shell, '--org', name, '--table', tableName, '--fix')).code).toBe(0);
  expect(await total()).toBe(2);
  expect((await reconcile(shell, '--org', name, '--stack', 'Crewboard')).code).toBe(0);
});

it.concurrent.each([
  ['no organization', [], /^Name an organization with --org NAME, or use --all/],
  ['one and all organizations', ['--org', 'x', '--all'], /cannot be used with option/],
  [
    'a table and a stack',
    ['--org', 'x', '--table', 'a', '--stack', 'b'],
    /'--stack <name>' cannot be used with option '--table <name>'/,
  ],
  ['an unknown table', ['--org', 'x', '--table', 'none'], /^The table none cannot be read/],
  ['an unknown stack', ['--org', 'x', '--stack', 'none'], /^The stack none cannot be read: No such stack/],
])('rejects %s in one sentence', async (_, args, message) => {
  const aws = await startAws({ 'cloudformation:DescribeStacks': () => xmlError('ValidationError', 'No such stack') });
  const shell = { ...aws.shell, AWS_ENDPOINT_URL_DYNAMODB: dynamodbEndpoint };
  expect(errorOf(await reconcile(shell, ...args))).toMatch(message);
});

it.concurrent('writes nothing if the second reading finds other differences', async () => {
  const [name, other] = ['a-busy-one', 'tk_01K00000000000000000000000'];
  const organization = name as Organization;
  const row = ({ pk, sk }: Key) => ({ pk: { S: pk }, sk: { S: sk } });
  const list = keys.taskScope(organization, {});
  const scans = [[row(keys.listRow(list, '*', other.slice(-26)))], []];
  const aws = await startAws({ 'dynamodb:Scan': () => ({ body: { Items: scans.shift() ?? [] } }) });
  const { code, stdout, stderr } = await reconcile(aws.shell, '--org', name, '--table', 'busy', '--fix');
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toContain(
    'Nothing was written: a second reading found other differences, so something writes to the table.',
  );
  expect(aws.asked.map(({ action }) => action)).toEqual(['dynamodb:Scan', 'dynamodb:Scan']);
});
