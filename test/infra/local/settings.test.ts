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
  expect(readSettings({ CREWBOARD_DATA: '', DYNAMODB_ENDPOINT: '', RETRY_LADDER: '', RUNNING_CAP: '' })).toMatchObject({
    dataFolder: resolve('.crewboard'),
    dynamodbEndpoint: undefined,
    retryLadder: undefined,
    runningCap: undefined,
  });
});

it('allows public receivers only if ALLOWED_RECEIVERS is empty', () => {
  expect(readSettings({ ALLOWED_RECEIVERS: '' }).allowedReceivers).toBe('');
});

it.each(['0', '1441', '1.5', '-1', 'an hour'])('rejects the waiting limit %j in one sentence', (minutes) => {
  expect(() => readSettings({ WAITING_LIMIT_MINUTES: minutes })).toThrow(
    new Problem(`WAITING_LIMIT_MINUTES is "${minutes}"; set it to a whole number of minutes from 1 to 1440.`),
  );
});

it.each(['0', '1', '65535'])('accepts the port %s', (port) => {
  expect(readSettings({ PORT: port }).port).toBe(Number(port));
});

it.each(['http', '-1', '65536', '3000.5', '1e3', '0x10', ' 3000', ''])(
  'rejects the port %j in one sentence',
  (port) => {
    const sentence = `PORT is ${JSON.stringify(port)}; set it to a number from 0 to 65535.`;
    expect(() => readSettings({ PORT: port })).toThrow(new Problem(sentence));
  },
);

it.each(['1,1,1', '86400,86400,86400', '300,1800,7200'])('accepts the retry schedule %s', (retrySchedule) => {
  expect(readSettings({ RETRY_LADDER: retrySchedule }).retryLadder).toBe(retrySchedule);
});

it.each([
  ...['2,3', '2,3,4,5', '0,3,4', '2,3,86401', '2.5,3,4', '1e1,3,4'],
  ...['2;3;4', '2,,4', '2,3,4,', '5m,30m,2h', '2,3,4\n5'],
])('rejects the retry schedule %j in one sentence', (retrySchedule) => {
  const sentence = `RETRY_LADDER is ${JSON.stringify(retrySchedule)}; write three whole numbers of seconds from 1 to 86400, such as 300,1800,7200.`;
  expect(() => readSettings({ RETRY_LADDER: retrySchedule })).toThrow(new Problem(sentence));
});

it.each(['1', '50', '999999'])('accepts the running cap %s', (cap) => {
  expect(readSettings({ RUNNING_CAP: cap }).runningCap).toBe(cap);
});

it.each(['0', '1.5', 'x', '007', '1e3', ' 1', '1\n', '1000000'])(
  'rejects the running cap %j in one sentence',
  (cap) => {
    const sentence = `RUNNING_CAP is ${JSON.stringify(cap)}; set it to a whole number from 1 to 999999.`;
    expect(() => readSettings({ RUNNING_CAP: cap })).toThrow(new Problem(sentence));
  },
);

it.each(['0', '-1', '1.5', '1000001', 'many'])('rejects the limit %j in one sentence', (limit) => {
  for (const name of ['REQUESTS_PER_MINUTE', 'EXECUTIONS_PER_MINUTE'])
    expect(() => readSettings({ [name]: limit })).toThrow(
      new Problem(`${name} is ${JSON.stringify(limit)}; set it to a whole number from 1 to 1000000.`),
    );
});
