import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { Problem } from '../../../infra/local/problem.ts';
import { readSettings } from '../../../infra/local/settings.ts';
import { standardModel } from '../../../lib/contract/models.ts';

it('has a default for every setting', () => {
  expect(readSettings({})).toEqual({
    port: 3000,
    dataFolder: resolve('.crewboard'),
    dynamodbEndpoint: undefined,
    allowedReceivers: 'localhost:*,127.0.0.1:*',
    corsOrigins: 'http://localhost:*,http://127.0.0.1:*',
    retryLadder: undefined,
    runningCap: undefined,
    waitingLimit: undefined,
    limits: { requestsPerMinute: 60_000, executionsPerMinute: 6_000 },
    model: { kind: 'simulator', defaultModel: standardModel, latencyMs: 0, script: undefined },
  });
});

it('reads every setting from the environment', () => {
  expect(
    readSettings({
      PORT: '0',
      CREWBOARD_DATA: 'some/folder',
      DYNAMODB_ENDPOINT: 'http://127.0.0.1:8000',
      ALLOWED_RECEIVERS: 'hooks.test:9000',
      CORS_ORIGINS: 'https://board.example.com',
      RETRY_LADDER: '2, 3,4',
      RUNNING_CAP: '7',
      WAITING_LIMIT_MINUTES: '30',
      REQUESTS_PER_MINUTE: '30',
      EXECUTIONS_PER_MINUTE: '3',
      MODEL_LATENCY_MS: '250',
    }),
  ).toEqual({
    port: 0,
    dataFolder: resolve('some/folder'),
    dynamodbEndpoint: 'http://127.0.0.1:8000',
    allowedReceivers: 'hooks.test:9000',
    corsOrigins: 'https://board.example.com',
    retryLadder: '2, 3,4',
    runningCap: '7',
    waitingLimit: '30',
    limits: { requestsPerMinute: 30, executionsPerMinute: 3 },
    model: { kind: 'simulator', defaultModel: standardModel, latencyMs: 250, script: undefined },
  });
});

it('treats an empty folder, endpoint, retry schedule or running cap as unset', () => {
  const variables = { CREWBOARD_DATA: '', DYNAMODB_ENDPOINT: '', RETRY_LADDER: '', RUNNING_CAP: '' };
  expect(readSettings(variables)).toEqual(readSettings({}));
});

it('allows public receivers only if ALLOWED_RECEIVERS is empty', () => {
  expect(readSettings({ ALLOWED_RECEIVERS: '' }).allowedReceivers).toBe('');
});

it.each([
  ...['0', '1', '65535'].map((port) => ['PORT', port]),
  ...['1', '50', '999999'].map((cap) => ['RUNNING_CAP', cap]),
  ['RETRY_LADDER', '1,1,1'],
])('accepts %s=%s', (name, value) => {
  const { port, runningCap, retryLadder } = readSettings({ [name as string]: value });
  expect([String(port), runningCap, retryLadder]).toContain(value);
});

const perMinute = { values: ['0', '-1', '1.5', '1000001', 'many'], range: 'a whole number from 1 to 1000000' };
const invalid = {
  PORT: { values: ['http', '-1', '65536', '3000.5', '1e3', '0x10', ' 3000', ''], range: 'a number from 0 to 65535' },
  RUNNING_CAP: {
    values: ['0', '1.5', 'x', '007', '1e3', ' 1', '1\n', '1000000'],
    range: 'a whole number from 1 to 999999',
  },
  WAITING_LIMIT_MINUTES: {
    values: ['0', '1441', '1.5', '-1', 'an hour'],
    range: 'a whole number of minutes from 1 to 1440',
  },
  REQUESTS_PER_MINUTE: perMinute,
  EXECUTIONS_PER_MINUTE: perMinute,
};

it.each(
  Object.entries(invalid).flatMap(([name, { values, range }]) => values.map((value) => [name, value, range] as const)),
)('rejects %s=%j in one sentence', (name, value, range) => {
  const sentence = `${name} is ${JSON.stringify(value)}; set it to ${range}.`;
  expect(() => readSettings({ [name]: value })).toThrow(new Problem(sentence));
});

it('rejects an invalid retry schedule in one sentence', () => {
  const sentence =
    'RETRY_LADDER is "2,3"; write three whole numbers of seconds from 1 to 86400, such as 300,1800,7200.';
  expect(() => readSettings({ RETRY_LADDER: '2,3' })).toThrow(new Problem(sentence));
});
