import { expect, it } from 'vitest';
import { printJson } from '../../../infra/cli/json.ts';
import { operatorErrorText } from '../../../infra/cli/operator-errors.ts';
import { program } from '../../../infra/cli/program.ts';
import { enqueueMessages } from '../../../infra/local/queues/memory-queue.ts';
import { createQueues } from '../../../infra/local/queues/queues.ts';
import { startDeployment } from '../../journeys/deployment.ts';
import { openService } from '../../service.ts';
import { stackResources, startAws, xmlError } from './aws.ts';
import { runInProcess } from './in-process.ts';
import { runServed } from './served.ts';

const service = await startDeployment();

/** Runs a command of operators that prints JSON, and returns its exit code and the data. */
async function dataOf(args: string, variables: Record<string, string> = { CREWBOARD_DATA: service.dataFolder }) {
  const ended = await runInProcess(program, operatorErrorText, [...args.split(' '), '--json'], variables);
  // The parser would not say why there is no output.
  if (ended.stdout === '') throw new Error(`${args} ended with ${ended.code}: ${ended.stderr}`);
  return [ended.code, JSON.parse(ended.stdout).data];
}

const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);

it('JSON has no character that controls a terminal, and is the same value', () => {
  const data = 'a\x1b[31m\x7f\x9b\u202eb\n é 👩‍🚀';
  const printed: string[] = [];
  printJson({ data }, (text) => printed.push(text));
  expect(printed.join('')).toBe('{\n  "data": "a\\u001b[31m\\u007f\\u009b\\u202eb\\n é 👩‍🚀"\n}');
  expect(JSON.parse(printed.join(''))).toEqual({ data });
});

it('orgs list prints the organizations as JSON', async () => {
  const local = { organization: 'local', since: time, activeTokens: 1 };
  expect(await dataOf('orgs list')).toEqual([0, [local]]);
});

it('settings show prints the settings as JSON, with numbers', async () => {
  const settings = [
    { setting: 'default-model', value: expect.any(String), isOwn: false },
    { setting: 'requests-per-minute', value: 60_000, isOwn: false },
    { setting: 'executions-per-minute', value: 6_000, isOwn: false },
    { setting: 'daily-tokens', isOwn: false, usedToday: 0 },
  ];
  expect(await dataOf('settings show --org local')).toEqual([0, settings]);
});

it('dead-letters list and show print the dead letters as JSON', async () => {
  const { app: context } = await openService();
  const queues = createQueues();
  const body = JSON.stringify({ organization: 'local', executionId: 'ex_01K00000000000000000000000' });
  enqueueMessages(queues.deadLetters, [{ body, delaySeconds: 0 }]);
  const dataIn = async (command: string, ...args: string[]) => {
    const { code, stdout } = await runServed({ context, queues }, command, ...args, '--json');
    return [code, JSON.parse(stdout).data];
  };
  const [code, counts] = await dataIn('dead-letters list');
  expect([code, counts]).toEqual([0, expect.arrayContaining([{ kind: 'executions', count: 1, oldestSentAt: time }])]);
  expect(counts).toContainEqual({ kind: 'deliveries', count: 0 });
  const shown = { id: expect.any(String), kind: 'executions', sentAt: time, body };
  expect(await dataIn('dead-letters show', 'executions')).toEqual([0, [shown]]);
});

it('deliveries verify prints the numbers of each organization as JSON', async () => {
  const since = new Date(Date.now() - 60_000).toISOString();
  const local = { organization: 'local', events: 0, deliveries: 0, waiting: 0, lost: 0 };
  expect(await dataOf(`deliveries verify --since ${since}`)).toEqual([0, [local]]);
});

it('reconcile prints the differences of each organization as JSON', async () => {
  const local = { organization: 'local', differences: [], repaired: false };
  expect(await dataOf('reconcile --all')).toEqual([0, [local]]);
});

it('agents move-model prints the agents that would move, or have moved, as JSON', async () => {
  const [, [{ value: model }]] = await dataOf('settings show --org local');
  const users = ['prompt-improver', 'qa-reviewer'].map((agent) => ({ organization: 'local', agent }));
  const move = `agents move-model --from ${model} --to new.model`;
  expect(await dataOf(`${move} --dry-run`)).toEqual([0, users]);
  expect(await dataOf(move)).toEqual([0, users]);
  expect(await dataOf(`${move} --dry-run`)).toEqual([0, []]);
});

it('preflight prints its findings as JSON, and exits with 1 if there is a problem', async () => {
  const { shell } = await startAws({
    'cloudformation:DescribeStacks': () => xmlError('ValidationError', 'Stack with id x does not exist'),
  });
  const [code, findings] = await dataOf('preflight', shell);
  expect([code, findings[0]]).toEqual([1, { state: 'ok', what: 'settings/default.json is valid.' }]);
});

it('trace prints the lines of the logs as JSON', async () => {
  const fields = (message: string) => [
    { field: '@timestamp', value: '2026-01-01 10:00:00.000' },
    { field: '@log', value: '1:one-log' },
    { field: '@logStream', value: 's' },
    { field: '@message', value: message },
  ];
  const results = [fields('{"message":"started","id":"tk_000001"}'), fields('not JSON tk_000001\n')];
  const { shell } = await startAws({
    'cloudformation:ListStackResources': stackResources([
      { id: 'ApiAccessLog0123ABCD', type: 'AWS::Logs::LogGroup', name: 'one-log' },
    ]),
    'logs:StartQuery': () => ({ body: { queryId: 'q' } }),
    'logs:GetQueryResults': () => ({ body: { status: 'Complete', results } }),
  });
  const line = { at: expect.any(String), where: 'AccessLog' };
  expect(await dataOf('trace tk_000001', shell)).toEqual([
    0,
    [
      { ...line, line: { message: 'started', id: 'tk_000001' } },
      { ...line, line: 'not JSON tk_000001' },
    ],
  ]);
});
