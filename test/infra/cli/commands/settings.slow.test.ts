import { expect, it } from 'vitest';
import { run, startDeployment } from '../../../journeys/deployment.ts';
import { newToken } from '../../../journeys/stories.ts';

const service = await startDeployment({
  environment: { DEFAULT_MODEL: 'the.deployments-model', REQUESTS_PER_MINUTE: '3000', EXECUTIONS_PER_MINUTE: '200' },
});
const settings = (...args: string[]) =>
  run(['infra/cli/main.ts', 'settings', ...args], { CREWBOARD_DATA: service.dataFolder });

/** The limits of an organization that has none of its own. */
const deployed = [
  ['requests-per-minute', '3000', 'the deployment'],
  ['executions-per-minute', '200', 'the deployment'],
];

async function modelOf(token: string, name: string): Promise<string | undefined> {
  return (await service.api('GET', `/api/agents/${name}`, { token })).body.data.model;
}

async function create(token: string, name: string): Promise<void> {
  const body = { name, displayName: 'Writer', category: 'business' };
  expect((await service.api('POST', '/api/agents', { token, body })).status).toBe(201);
}

/** What is shown: a setting a row. */
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

it('sets the model of agents that name none, shows it, and leaves it to the deployment again', async () => {
  const token = await newToken(service, 'models');
  expect(await shown('models')).toEqual([['default-model', 'the.deployments-model', 'the deployment'], ...deployed]);
  await create(token, 'before');
  const set = await settings('set', '--org', 'models', '--default-model', 'its.own-model');
  expect([set.code, set.stderr, set.stdout]).toEqual([
    0,
    '',
    'In models, agents that name no model are given its.own-model from now on.\n',
  ]);
  expect(await shown('models')).toEqual([['default-model', 'its.own-model', 'models'], ...deployed]);
  await create(token, 'between');
  const unset = await settings('unset', '--org', 'models', '--default-model');
  expect([unset.code, unset.stderr, unset.stdout]).toEqual([
    0,
    '',
    "In models, agents that name no model are given the deployment's the.deployments-model from now on.\n",
  ]);
  await create(token, 'after');
  const models = await Promise.all(['qa-reviewer', 'before', 'between', 'after'].map((name) => modelOf(token, name)));
  expect(models).toEqual(['the.deployments-model', 'the.deployments-model', 'its.own-model', 'the.deployments-model']);
});

it('sets the limits of an organization, which its requests are told of, and leaves them to the deployment again', async () => {
  const token = await newToken(service, 'limits');
  const both = await settings(
    ...['set', '--org', 'limits', '--requests-per-minute', '9000', '--executions-per-minute', '7'],
  );
  expect([both.code, both.stderr, both.stdout]).toEqual([
    0,
    '',
    'In limits, 9000 requests a minute are answered, within 30 seconds from now.\n' +
      'In limits, 7 executions a minute can be started from now on.\n',
  ]);
  expect(await shown('limits')).toEqual([
    ['default-model', 'the.deployments-model', 'the deployment'],
    ['requests-per-minute', '9000', 'limits'],
    ['executions-per-minute', '7', 'limits'],
  ]);
  // The service has not read this token before.
  const { headers } = await service.api('GET', '/api/agents', { token });
  expect(headers.get('RateLimit-Policy')).toBe('"requests";q=9000;w=60');
  const one = await settings('unset', '--org', 'limits', '--requests-per-minute');
  expect([one.code, one.stderr, one.stdout]).toEqual([
    0,
    '',
    "In limits, the deployment's 3000 requests a minute are answered, within 30 seconds from now.\n",
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
  ['an organization that there is not', set('nobody', 'm'), /^There is no organization nobody: no token was ever made/],
  ['to show one', ['show', '--org', 'nobody'], /^There is no organization nobody/],
  ['to unset something of one', ['unset', '--org', 'nobody', '--default-model'], /^There is no organization nobody/],
  ['a model of white space', set('local', ' '), /' ' is invalid\. It must not be white space only\./],
  ['a model of nothing', set('local', ''), /It must have 1 to 256 characters\./],
  ['a model of 257 characters', set('local', 'm'.repeat(257)), /It must have 1 to 256 characters\./],
  [
    'a limit of none',
    ['set', '--org', 'local', '--requests-per-minute', '0'],
    /It must be a whole number from 1 to 1000000\./,
  ],
  [
    'a limit in words',
    ['set', '--org', 'local', '--executions-per-minute', 'many'],
    /It must be a whole number from 1/,
  ],
  ['to set nothing', ['set', '--org', 'local'], nothing],
  ['to unset nothing', ['unset', '--org', 'local'], nothing],
])('refuses %s in a sentence', async (_, args, said) => {
  const { code, stdout, stderr } = await settings(...args);
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(said);
  expect(stderr).not.toMatch(/^\s+at /m);
  expect(await shown('local')).toEqual([['default-model', 'the.deployments-model', 'the deployment'], ...deployed]);
});
