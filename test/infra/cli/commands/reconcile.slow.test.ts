import { marshall } from '@aws-sdk/util-dynamodb';
import { expect, it } from 'vitest';
import { tableName } from '../../../../infra/local/running.ts';
import type { Organization } from '../../../../lib/contract/organization.ts';
import { keys } from '../../../../lib/table/access/keys.ts';
import { dataOf } from '../../../api.ts';
import { createTask, newToken } from '../../../journeys/requests.ts';
import { describedStack, errorOf, startAws, xmlError } from '../aws.ts';
import { columnsOf, crewboardIn, startLocalService } from './local-service.ts';

const { service, dynamodbEndpoint, crewboard, loseRow } = await startLocalService();

it('lists organizations with their active tokens, and reconciles all of them', async () => {
  const aws = await startAws({ 'cloudformation:DescribeStacks': () => describedStack({ TableName: tableName }) });
  const inStack = (...args: string[]) =>
    crewboardIn({ ...aws.shell, AWS_ENDPOINT_URL_DYNAMODB: dynamodbEndpoint }, ...args);
  const [beta, alpha] = [await newToken(service, 'beta'), await newToken(service, 'alpha')];
  await crewboard('token', 'revoke', await newToken(service, 'alpha'));

  const { code, stdout, stderr } = await crewboard('orgs', 'list');
  expect([code, stderr]).toEqual([0, '']);
  const [head, ...rows] = columnsOf(stdout);
  expect(head?.[2]).toBe('active tokens');
  expect(rows.map(([name, , count]) => `${name} ${count}`)).toEqual(['alpha 1', 'beta 1', 'local 1']);
  for (const [, since = ''] of rows) expect(new Date(since).toISOString()).toBe(since);
  expect((await inStack('orgs', 'list', '--stack', 'Crewboard')).stdout).toBe(stdout);
  expect((await inStack('orgs', 'list', '--table', tableName)).stdout).toBe(stdout);

  await loseRow('alpha', alpha);
  await loseRow('beta', beta);
  const reconcileAll = async (runIn: typeof crewboard, ...args: string[]) => {
    const { code, stdout } = await runIn('reconcile', '--all', ...args);
    return [code, stdout.match(/^(alpha|beta) .*?\.|^All .*\.$/gm)];
  };
  const correct = (name: string) => `All lists and counts of ${name} are correct.`;
  const differing = ['alpha has 1 difference.', 'beta has 1 difference.', correct('local')];
  expect(await reconcileAll(inStack, '--table', tableName)).toEqual([1, differing]);
  expect(await reconcileAll(crewboard, '--fix')).toEqual([0, differing]);
  expect(await reconcileAll(crewboard)).toEqual([0, ['alpha', 'beta', 'local'].map(correct)]);
});

it.concurrent('prints the differences, and repairs them only with --fix', async () => {
  const name = 'local-one';
  const token = await newToken(service, name);
  await createTask(service, 'Kept', token);
  const row = await loseRow(name, token);
  const query = 'status=backlog&priority=medium';
  const total = async () => dataOf<object[]>(await service.api.listTasks({ query, token })).length;
  const differences = `missing     ${row}  {}\n${name} has 1 difference.`;
  const notice = 'Nothing was written. To repair them, stop everything that writes to the table and add --fix.';
  const reconcile = (...args: string[]) => crewboard('reconcile', '--org', name, ...args);
  expect(await reconcile()).toMatchObject({ code: 1, stderr: '', stdout: `${differences} ${notice}\n` });
  expect(await total()).toBe(1);
  expect(await reconcile('--fix')).toMatchObject({ code: 0, stdout: `${differences} All are repaired.\n` });
  expect(await total()).toBe(2);
  const correct = { code: 0, stdout: `All lists and counts of ${name} are correct.\n` };
  expect(await reconcile('--fix')).toMatchObject(correct);
});

it.concurrent('runs under its old name, with a notice', async () => {
  await newToken(service, 'renamed');
  const oldName = 'recount';
  expect(await crewboard(oldName, '--org', 'renamed')).toMatchObject({
    ...{ code: 0, stdout: 'All lists and counts of renamed are correct.\n' },
    stderr: `${oldName} is now named reconcile; the next release removes the old name.\n`,
  });
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
  expect(errorOf(await crewboardIn(shell, 'reconcile', ...args.split(' ').filter(Boolean)))).toMatch(message);
});

it.concurrent('writes nothing if the second reading finds other differences', async () => {
  const row = keys.listRow(keys.taskScope('busy' as Organization, {}), '*', '01K00000000000000000000000');
  const scans = [[marshall({ pk: row.pk, sk: row.sk })], []];
  const aws = await startAws({ 'dynamodb:Scan': () => ({ body: { Items: scans.shift() ?? [] } }) });
  const error = errorOf(await crewboardIn(aws.shell, 'reconcile', '--org', 'busy', '--table', 'busy', '--fix'));
  const sentence = 'a second reading found other differences, so something writes to the table.';
  expect(error).toContain(`Nothing was written: ${sentence}`);
  expect(aws.asked.map(({ action }) => action)).toEqual(['dynamodb:Scan', 'dynamodb:Scan']);
});
