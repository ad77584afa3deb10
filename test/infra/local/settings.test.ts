import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import type { DataFolder } from '../../../infra/local/data-folder.ts';
import { functionEnvironment } from '../../../infra/local/function-environment.ts';
import { readLocalSettings } from '../../../infra/local/settings.ts';
import { Problem } from '../../../infra/problem.ts';
import { standardModel } from '../../../lib/contract/agents/models.ts';
import { numberSettings } from '../../../lib/settings/number-settings.ts';

const defaults = {
  port: 3000,
  dataFolder: resolve('.crewboard'),
  allowedReceivers: 'localhost:*,127.0.0.1:*',
  corsOrigins: 'http://localhost:*,http://127.0.0.1:*',
  ...{ dynamodbEndpoint: undefined, retryLadder: undefined, runningCap: undefined, waitingLimit: undefined },
  ...{ executionSteps: undefined, executionTokens: undefined, executionMinutes: undefined },
  responseDays: undefined,
  failingDays: undefined,
  log: undefined,
  durability: 'full',
  limits: { requestsPerMinute: 60_000, executionsPerMinute: 6_000, callsOutPerMinute: 3_000 },
  model: { kind: 'simulator', defaultModel: standardModel, latencyMs: 0, script: undefined },
};

it.each<[Record<string, string>, object]>([
  [{}, {}],
  [{ CREWBOARD_DATA: '', DYNAMODB_ENDPOINT: '', RETRY_LADDER: '', RUNNING_CAP: '', LOG: '' }, {}],
  [{ DURABILITY: 'normal' }, { durability: 'normal' }],
  [{ PORT: '0' }, { port: 0 }],
  [{ PORT: '1' }, { port: 1 }],
  [{ PORT: '65535' }, { port: 65_535 }],
  [{ CREWBOARD_DATA: 'some/folder' }, { dataFolder: resolve('some/folder') }],
  [{ DYNAMODB_ENDPOINT: 'http://127.0.0.1:8000' }, { dynamodbEndpoint: 'http://127.0.0.1:8000' }],
  [{ ALLOWED_RECEIVERS: 'hooks.test:9000' }, { allowedReceivers: 'hooks.test:9000' }],
  // Only public receivers are allowed.
  [{ ALLOWED_RECEIVERS: '' }, { allowedReceivers: '' }],
  [{ CORS_ORIGINS: 'https://board.example.com' }, { corsOrigins: 'https://board.example.com' }],
  [{ RETRY_LADDER: '2, 3,4' }, { retryLadder: '2, 3,4' }],
  [{ RESPONSE_DAYS: '90' }, { responseDays: '90' }],
  [{ FAILING_DAYS: '80' }, { failingDays: '80' }],
  [{ RUNNING_CAP: '1' }, { runningCap: '1' }],
  [{ RUNNING_CAP: '999999' }, { runningCap: '999999' }],
  [{ WAITING_LIMIT_MINUTES: '30' }, { waitingLimit: '30' }],
  [{ EXECUTION_STEPS: '200' }, { executionSteps: '200' }],
  [{ EXECUTION_TOKENS: '10000000' }, { executionTokens: '10000000' }],
  [{ EXECUTION_MINUTES: '60' }, { executionMinutes: '60' }],
  [
    { REQUESTS_PER_MINUTE: '30', EXECUTIONS_PER_MINUTE: '3', CALLS_OUT_PER_MINUTE: '2' },
    { limits: { requestsPerMinute: 30, executionsPerMinute: 3, callsOutPerMinute: 2 } },
  ],
  [{ DAILY_TOKENS: '1000000000000' }, { limits: { ...defaults.limits, dailyTokens: 1_000_000_000_000 } }],
  [{ MODEL_LATENCY_MS: '250' }, { model: { ...defaults.model, latencyMs: 250 } }],
  [{ LOG: 'text' }, { log: 'text' }],
  [{ LOG: 'json' }, { log: 'json' }],
])('reads %o', (variables, settings) => {
  expect(readLocalSettings(variables)).toEqual({ ...defaults, ...settings });
});

it.each([[['--port', '4000']], [['--port=4000']]])('reads the port from the arguments %j', (args) => {
  expect(readLocalSettings({ PORT: '1' }, args)).toEqual({ ...defaults, port: 4_000 });
});

it.each([
  [['--port', 'http'], '--port is "http"; set it to a number from 0 to 65535.'],
  [['--port'], '"--port" has no effect; there is only --port,'],
  [['4000'], '"4000" has no effect; there is only --port,'],
])('reports the invalid arguments %j', (args, message) => {
  expect(() => readLocalSettings({}, args)).toThrow(message);
});

const perMinute = { values: ['0', '-1', '1.5', '1000001', 'many'], todo: 'set it to a whole number from 1 to 1000000' };
const invalid = {
  PORT: {
    values: ['http', '-1', '65536', '3000.5', '1e3', '0x10', ' 3000', ''],
    todo: 'set it to a number from 0 to 65535',
  },
  RESPONSE_DAYS: {
    values: ['0', '91', '1.5', '-1', '07', 'a week'],
    todo: 'set it to a whole number of days from 1 to 90',
  },
  FAILING_DAYS: {
    values: ['0', '81', '1.5', '-1', 'a week'],
    todo: 'set it to a whole number of days from 1 to 80',
  },
  RUNNING_CAP: {
    values: ['0', '1.5', 'x', '007', '1e3', ' 1', '1\n', '1000000'],
    todo: 'set it to a whole number from 1 to 999999',
  },
  WAITING_LIMIT_MINUTES: {
    values: ['0', '1441', '1.5', '-1', 'an hour'],
    todo: 'set it to a whole number of minutes from 1 to 1440',
  },
  EXECUTION_STEPS: { values: ['0', '201', '1.5', 'many'], todo: 'set it to a whole number from 1 to 200' },
  EXECUTION_TOKENS: { values: ['0', '10000001', '1e6'], todo: 'set it to a whole number from 1 to 10000000' },
  EXECUTION_MINUTES: {
    values: ['0', '61', '1.5', 'an hour'],
    todo: 'set it to a whole number of minutes from 1 to 60',
  },
  REQUESTS_PER_MINUTE: perMinute,
  EXECUTIONS_PER_MINUTE: perMinute,
  DAILY_TOKENS: {
    values: ['0', '1.5', '-1', '1e6', '1000000000001', '99999999999999'],
    todo: 'set it to a whole number from 1 to 1000000000000',
  },
  RETRY_LADDER: {
    values: ['2,3'],
    todo: 'write three whole numbers of seconds from 1 to 86400, such as 300,1800,7200',
  },
  LOG: { values: ['debug', 'JSON', 'true'], todo: 'set it to text or json, or leave it unset' },
};

it.each(
  Object.entries(invalid).flatMap(([name, { values, todo }]) => values.map((value) => [name, value, todo] as const)),
)('rejects %s=%j in one sentence', (name, value, todo) => {
  expect(() => readLocalSettings({ [name]: value })).toThrow(
    new Problem(`${name} is ${JSON.stringify(value)}; ${todo}.`),
  );
});

it('gives each setting that is a number to the functions', () => {
  const variables = Object.fromEntries(
    Object.values(numberSettings).map(({ variable, most }) => [variable, String(most)]),
  );
  expect(functionEnvironment(readLocalSettings(variables), { folder: 'data' } as DataFolder)).toMatchObject(variables);
});
