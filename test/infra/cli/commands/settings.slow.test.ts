import { expect, it } from 'vitest';
import { dataOf } from '../../../api.ts';
import { run, startDeployment } from '../../../journeys/deployment.ts';
import { newToken } from '../../../journeys/requests.ts';
import { errorOf } from '../aws.ts';

const service = await startDeployment({
  environment: { DEFAULT_MODEL: 'the.deployments-model', REQUESTS_PER_MINUTE: '3000', EXECUTIONS_PER_MINUTE: '200' },
});
const settings = (...args: string[]) =>
  run(['infra/cli/main.ts', 'settings', ...args], { CREWBOARD_DATA: service.dataFolder });

/** The limits of an organization without its own. */
const deployed = [
  ['requests-per-minute', '3000', 'the deployment'],
  ['executions-per-minute', '200', 'the deployment'],
];

async function modelOf(token: string, name: string): Promise<string | undefined> {
  return dataOf<{ model?: string }>(await service.api.getAgent({ params: { name }, token })).model;
}

async function create(token: string, name: string): Promise<void> {
  const body = { name, displayName: 'Writer', category: 'business' };
  expect((await service.api.createAgent({ token, body })).status).toBe(201);
}

/** Returns the shown rows, one for each setting. */
async function shown(org: string): Promise<string[][]> {
  const { code, stdout, stderr } = await settings('show', '--org', org);
  expect([code, stderr]).toEqual([0, '']);
  const [head, ...rows] = stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.split(/ {2,}/));
  expect(head).toEqual(['setting', 'value', 'set by']);
  return rows;
}

it('sets the default model of agents, shows it, and resets it to that of the deployment', async () => {
  const token = await newToken(service, 'models');
  expect(await shown('models')).toEqual([['default-model', 'the.deployments-model', 'the deployment'], ...deployed]);
  await create(token, 'before');
  const set = await settings('set', '--org', 'models', '--default-model', 'its.own-model');
  expect([set.code, set.stderr, set.stdout]).toEqual([
    0,
    '',
    'In models, new agents without a model get its.own-model.\n',
  ]);
  expect(await shown('models')).toEqual([['default-model', 'its.own-model', 'models'], ...deployed]);
  await create(token, 'between');
  const unset = await settings('unset', '--org', 'models', '--default-model');
  expect([unset.code, unset.stderr, unset.stdout]).toEqual([
    0,
    '',
    "In models, new agents without a model get the deployment's the.deployments-model.\n",
  ]);
  await create(token, 'after');
  const models = await Promise.all(['qa-reviewer', 'before', 'between', 'after'].map((name) => modelOf(token, name)));
  expect(models).toEqual(['the.deployments-model', 'the.deployments-model', 'its.own-model', 'the.deployments-model']);
});

it('sets the limits of an organization, shows them in its responses, and resets them to those of the deployment', async () => {
  const token = await newToken(service, 'limits');
  const both = await settings(
    ...['set', '--org', 'limits', '--requests-per-minute', '9000', '--executions-per-minute', '7'],
  );
  expect([both.code, both.stderr, both.stdout]).toEqual([
    0,
    '',
    'In limits, 9000 requests a minute are allowed, everywhere within 30 seconds.\n' +
      'In limits, 7 new executions a minute are allowed.\n',
  ]);
  expect(await shown('limits')).toEqual([
    ['default-model', 'the.deployments-model', 'the deployment'],
    ['requests-per-minute', '9000', 'limits'],
    ['executions-per-minute', '7', 'limits'],
  ]);
  // The service has not read this token before.
  const { headers } = await service.api.listAgents({ token });
  expect(headers['RateLimit-Policy']).toBe('"requests";q=9000;w=60');
  const one = await settings('unset', '--org', 'limits', '--requests-per-minute');
  expect([one.code, one.stderr, one.stdout]).toEqual([
    0,
    '',
    "In limits, the deployment's 3000 requests a minute are allowed, everywhere within 30 seconds.\n",
  ]);
  expect(await shown('limits')).toEqual([
    ['default-model', 'the.deployments-model', 'the deployment'],
    ['requests-per-minute', '3000', 'the deployment'],
    ['executions-per-minute', '7', 'limits'],
  ]);
});

const nothing = /Name at least one setting: --default-model, --requests-per-minute, --executions-per-minute\./;
const set = (org: string, model: string) => ['set', '--org', org, '--default-model', model];

it.concurrent.each([
  ['an unknown organization', set('unknown', 'm'), /^The organization unknown does not exist; create its first token/],
  ['show of an unknown organization', ['show', '--org', 'unknown'], /^The organization unknown does not exist/],
  [
    'unset of an unknown organization',
    ['unset', '--org', 'unknown', '--default-model'],
    /^The organization unknown does not exist/,
  ],
  ['a model of white space', set('local', ' '), /' ' is invalid\. It must not be white space only\./],
  ['a model of 257 characters', set('local', 'm'.repeat(257)), /It must have 1 to 256 characters\./],
  [
    'a limit of 0',
    ['set', '--org', 'local', '--requests-per-minute', '0'],
    /It must be a whole number from 1 to 1000000\./,
  ],
  ['set without a setting', ['set', '--org', 'local'], nothing],
  ['unset without a setting', ['unset', '--org', 'local'], nothing],
])('rejects %s in one sentence', async (_, args, message) => {
  expect(errorOf(await settings(...args))).toMatch(message);
  expect(await shown('local')).toEqual([['default-model', 'the.deployments-model', 'the deployment'], ...deployed]);
});
