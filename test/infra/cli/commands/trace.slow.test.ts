import { expect, it } from 'vitest';
import { run } from '../../../journeys/deployment.ts';
import { synthesized } from '../../aws/synthesized.ts';
import { type AwsAnswer, errorOf, stackResources, startAws } from '../aws.ts';

const { resources: inTemplate } = synthesized();

/** The log groups of the stack, and enough others for a second query. */
const groups = [
  ...Object.keys(inTemplate('AWS::Logs::LogGroup')),
  ...Array.from({ length: 50 }, (_, nth) => `ApiMore${nth}Log0123ABCD`),
];
const nameOf = (id: string) => `Crewboard-${id}-AbCdEf`;
const named = (type: string, ids: string[]) => ids.map((id) => ({ id, type, name: nameOf(id) }));
const resources = [
  ...named('AWS::Logs::LogGroup', groups),
  ...named('AWS::Lambda::Function', Object.keys(inTemplate('AWS::Lambda::Function'))),
];
const nameInAws = (construct: string) =>
  resources.find(({ id }) => id.replace(/[0-9A-F]{8}$/, '') === construct)?.name as string;

/** Returns a line in the format of Logs Insights, of a function or of another log such as the access log. */
const line = (at: string, group: string, text: string | object, lambda?: string) => [
  { field: '@timestamp', value: at },
  { field: '@log', value: `123456789012:${nameInAws(group)}` },
  { field: '@logStream', value: lambda ? `2026/01/01/${nameInAws(lambda)}[$LATEST]0123456789abcdef` : '0a1b2c3d' },
  { field: '@message', value: typeof text === 'string' ? text : JSON.stringify(text) },
  { field: '@ptr', value: 'x' },
];

const none = { status: 'Complete', results: [] };

/** Runs the command in an account whose queries have these results in turn. */
async function traced(answers: AwsAnswer['body'][], ...args: string[]) {
  const remaining = [...answers];
  const { shell, asked } = await startAws({
    'cloudformation:ListStackResources': stackResources(resources),
    'logs:StartQuery': () => ({ body: { queryId: 'q' } }),
    'logs:GetQueryResults': () => ({ body: remaining.shift() }),
  });
  const ended = await run(['infra/cli/main.ts', 'trace', ...args], shell);
  return { ...ended, queries: asked.filter(({ action }) => action === 'logs:StartQuery').map(({ body }) => body) };
}

it('prints the log lines of the whole stack that contain an id, oldest first, with the function', async () => {
  const error = { level: 'ERROR', message: 'record failed', timestamp: 't', function_name: 'f', record: 'tk_000001' };
  const results = [
    line('2026-01-01 10:00:01.000', 'PipelinePublishEventsLog', error, 'PipelinePublishEvents'),
    line('2026-01-01 10:00:00.000', 'ApiAccessLog', { requestId: 'abcdef=', status: '201' }),
    line('2026-01-01 10:00:02.000', 'ApiReadsWritesLog', 'not JSON abcdef=\n', 'ApiCreateTask'),
    line('2026-01-01 10:00:03.000', 'ApiReadsWritesLog', { message: 'request', requestId: 'abcdef=' }, 'ApiUpdateTask'),
  ];
  const { code, stdout, stderr, queries } = await traced(
    [{ status: 'Running' }, { status: 'Complete', results }, none],
    'abcdef=',
  );
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout.trimEnd().split('\n')).toEqual([
    '2026-01-01 10:00:00.000  AccessLog  {"requestId":"abcdef=","status":"201"}',
    '2026-01-01 10:00:01.000  PublishEvents  ERROR  record failed  {"record":"tk_000001"}',
    '2026-01-01 10:00:02.000  CreateTask  not JSON abcdef=',
    '2026-01-01 10:00:03.000  UpdateTask  request  {"requestId":"abcdef="}',
  ]);
  expect(queries.flatMap(({ logGroupNames }) => logGroupNames)).toEqual(groups.map(nameOf));
  for (const { logGroupNames } of queries) expect((logGroupNames as string[]).length).toBeLessThanOrEqual(50);
  for (const { queryString } of queries) expect(queryString).toContain('| filter @message like "abcdef="');
});

it.each([
  ['three hours by default', [], 3 * 60 * 60],
  ['the given time span', ['--since', '7d'], 7 * 24 * 60 * 60],
])('searches %s', async (_, args, seconds) => {
  const { code, stdout, queries } = await traced([none, none], 'abcdef', ...args);
  expect([code, stdout]).toEqual([0, expect.stringContaining('contains abcdef')]);
  const { startTime, endTime } = queries[0] as { startTime: number; endTime: number };
  expect(endTime - startTime - seconds).toBeOneOf([0, 1]);
});

it.each([
  [['abcdef'], /^CloudWatch ended the query with the status Timeout; try a shorter --since\.\n$/],
  [['abc" or 1 like "1'], /It is not a valid id\./],
  [['abcdef', '--since', 'yesterday'], /'yesterday' is invalid\. It must be a time span such as 30m, 3h or 7d\./],
])('reports in one sentence an error for the arguments %j', async (args, message) => {
  expect(errorOf(await traced([{ status: 'Timeout' }], ...args))).toMatch(message);
});
