import { expect, it } from 'vitest';
import { dataOf } from '../../../api.ts';
import { until } from '../../../journeys/deployment.ts';
import { newToken } from '../../../journeys/requests.ts';
import { errorOf } from '../aws.ts';
import { columnsOf, startLocalService } from './local-service.ts';

const { service, crewboard } = await startLocalService({
  ...{ DEFAULT_MODEL: 'the.deployments-model', REQUESTS_PER_MINUTE: '3000', EXECUTIONS_PER_MINUTE: '200' },
  DAILY_TOKENS: '5000000',
});

async function printed(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await crewboard('settings', ...args);
  expect([code, stderr]).toEqual([0, '']);
  return stdout;
}

/** The rows of an organization without settings of its own. */
const deployed = {
  'default-model': 'the.deployments-model, the deployment',
  'requests-per-minute': '3000, the deployment',
  'executions-per-minute': '200, the deployment',
  'daily-tokens': '5000000, the deployment, 0',
};

/** Returns the shown value of each setting, with what sets it. */
async function shown(org: string): Promise<Record<string, string>> {
  const [head, ...rows] = columnsOf(await printed('show', '--org', org));
  expect(head).toEqual(['setting', 'value', 'set by', 'used today']);
  return Object.fromEntries(rows.map(([setting, ...shown]) => [setting, shown.filter(Boolean).join(', ')]));
}

it('sets the default model of agents, shows it, and resets it to that of the deployment', async () => {
  const token = await newToken(service, 'models');
  const create = async (name: string) => {
    const body = { name, displayName: 'Writer', category: 'business' };
    expect((await service.api.createAgent({ token, body })).status).toBe(201);
    return dataOf<{ model?: string }>(await service.api.getAgent({ params: { name }, token })).model;
  };
  expect(await shown('models')).toEqual(deployed);
  const set = ['set', '--org', 'models', '--default-model', 'its.own-model'];
  expect(await printed(...set)).toBe('In models, new agents without a model get its.own-model.\n');
  expect(await shown('models')).toEqual({ ...deployed, 'default-model': 'its.own-model, models' });
  expect(await create('between')).toBe('its.own-model');
  expect(await printed('unset', '--org', 'models', '--default-model')).toBe(
    "In models, new agents without a model get the deployment's the.deployments-model.\n",
  );
  expect(await create('after')).toBe('the.deployments-model');
});

it('sets the limits of an organization, shows them in its responses, and resets them to those of the deployment', async () => {
  const token = await newToken(service, 'limits');
  const both = ['--requests-per-minute', '9000', '--executions-per-minute', '7'];
  expect(await printed('set', '--org', 'limits', ...both)).toBe(
    'In limits, 9000 requests a minute are allowed, everywhere within 30 seconds.\n' +
      'In limits, 7 new executions a minute are allowed.\n',
  );
  const own = { ...deployed, 'executions-per-minute': '7, limits' };
  expect(await shown('limits')).toEqual({ ...own, 'requests-per-minute': '9000, limits' });
  // The service has not read this token before.
  const { headers } = await service.api.listAgents({ token });
  expect(headers['RateLimit-Policy']).toBe('"requests";q=9000;w=60');
  expect(await printed('unset', '--org', 'limits', '--requests-per-minute')).toBe(
    "In limits, the deployment's 3000 requests a minute are allowed, everywhere within 30 seconds.\n",
  );
  expect(await shown('limits')).toEqual(own);
});

it('sets the daily budget of an organization, shows the tokens that it has used today, and resets it', async () => {
  const token = await newToken(service, 'budgets');
  const execute = () =>
    service.api.executeAgent({ token, params: { name: 'qa-reviewer' }, body: { input: 'What is a good task?' } });
  expect(await printed('set', '--org', 'budgets', '--daily-tokens', '1')).toBe(
    'In budgets, 1 tokens a UTC day are allowed.\n',
  );
  const { executionId: id } = dataOf<{ executionId: string }>(await execute());
  const tokensUsed = await until('the execution has ended', async () => {
    const answer = await service.api.getExecution({ token, params: { name: 'qa-reviewer', id } });
    return dataOf<{ tokensUsed?: number }>(answer).tokensUsed;
  });
  expect(await shown('budgets')).toEqual({ ...deployed, 'daily-tokens': `1, budgets, ${tokensUsed}` });
  const json = JSON.parse(await printed('show', '--org', 'budgets', '--json'));
  expect(json.data).toContainEqual({ setting: 'daily-tokens', value: 1, isOwn: true, usedToday: tokensUsed });
  expect((await execute()).status).toBe(429);
  expect(await printed('unset', '--org', 'budgets', '--daily-tokens')).toBe(
    "In budgets, the deployment's 5000000 tokens a UTC day are allowed.\n",
  );
  expect((await execute()).status).toBe(200);
});

const nothing =
  /Name at least one setting: --default-model, --requests-per-minute, --executions-per-minute, --daily-tokens\./;

it.concurrent.each([
  ['set --org unknown --default-model m', /^The organization unknown does not exist; create its first token/],
  ['show --org unknown', /^The organization unknown does not exist/],
  ['unset --org unknown --default-model', /^The organization unknown does not exist/],
  ['set --org local --default-model \t', /It must have at least one visible character\./],
  [`set --org local --default-model ${'m'.repeat(257)}`, /It must have 1 to 256 characters\./],
  ['set --org local --requests-per-minute 0', /It must be a whole number from 1 to 1000000\./],
  ['set --org local', nothing],
  ['unset --org local', nothing],
])('rejects %j in one sentence', async (command, message) => {
  expect(errorOf(await crewboard('settings', ...command.split(' ')))).toMatch(message);
  expect(await shown('local')).toEqual(deployed);
});
