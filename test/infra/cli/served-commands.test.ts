import { expect, it } from 'vitest';
import { servedNames } from '../../../infra/cli/served-commands.ts';
import { createQueues } from '../../../infra/local/queues/queues.ts';
import { openService } from '../../service.ts';
import { runServed } from './served.ts';

const { app: context } = await openService();
const access = { context, queues: createQueues() };

it('runs the commands of operators that work on a table or on queues', () => {
  expect(servedNames.toSorted()).toEqual([
    'agents move-model',
    'backup',
    'dead-letters drop',
    'dead-letters list',
    'dead-letters redrive',
    'dead-letters show',
    'deliveries verify',
    'orgs list',
    'reconcile',
    'settings set',
    'settings show',
    'settings unset',
    'token create',
    'token list',
    'token revoke',
  ]);
});

it.each([
  [['token create', '--org', 'Acme'], 2, /argument 'Acme' is invalid/],
  [['token create', '--org', 'acme', '--of', 'another version'], 2, /unknown option '--of'/],
  [['token create', '--org', 'acme', '--stack', 'Crewboard'], 1, /^A service runs commands on its own data only\.\n$/],
  [['orgs list', '--table', 'another'], 1, /^A service runs commands on its own data only\.\n$/],
  [['tasks list'], 1, /^The service does not know the command "tasks list"; it may run another version\./],
  [['listen'], 1, /^The service does not know the command "listen"/],
  [['constructor'], 1, /^The service does not know the command "constructor"/],
  [['token revoke', 'AAAAAAAAAAAA'], 1, /^There is no such token/],
  [['backup', 'copy.db'], 1, /^The table is not in the data folder, but in the engine of DYNAMODB_ENDPOINT;/],
])('answers %j with an error, and changes nothing', async ([command = '', ...args], code, message) => {
  const ended = await runServed(access, command, ...args);
  expect(ended).toMatchObject({ code, stdout: '', stderr: expect.stringMatching(message) });
  expect((await runServed(access, 'orgs list')).stdout).toBe('There are no organizations.\n');
});

it('runs two commands at once, each for its own operator', async () => {
  const { app } = await openService();
  const own = { context: app, queues: createQueues() };
  const names = ['one', 'two', 'three'];
  const created = await Promise.all(names.map((name) => runServed(own, 'token create', '--org', name)));
  for (const { code, stdout } of created) expect([code, stdout]).toEqual([0, expect.stringMatching(/^crew_\w{50}\n$/)]);
  const listed = await Promise.all([
    runServed(own, 'token list', '--org', 'one'),
    runServed(own, 'token list'),
    runServed(own, 'settings show', '--org', 'two'),
  ]);
  expect(listed.map(({ code, stderr }) => [code, stderr.split('\n')[0]])).toEqual([
    [0, ''],
    [2, "error: required option '--org <name>' not specified"],
    [0, ''],
  ]);
  expect(listed[0]?.stdout).toContain(created[0]?.stdout.slice(5, 17));
});
