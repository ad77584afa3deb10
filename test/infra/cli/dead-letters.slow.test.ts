import { GetQueueUrlCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import type { DynamoDBRecord } from 'aws-lambda';
import { expect, it } from 'vitest';
import { handler as publish } from '../../../functions/pipeline/publish-events.ts';
import { contextOf } from '../../../infra/local/functions.ts';
import { app } from '../../../lib/app.ts';
import { environment, type QueueName, queues } from '../../../lib/contract/deployment.ts';
import { messagesIn } from '../../functions/pipeline/delivery-lanes.ts';
import { messageOf, openPipeline } from '../../functions/pipeline/pipeline.ts';
import { run } from '../../journeys/deployment.ts';
import { newTask } from '../../table/board.ts';
import { streamed } from '../../table-stream.ts';
import { type AwsAnswer, stackResources, startAws } from './aws.ts';

const pipeline = await openPipeline();
const { organization, urls, sqs, service } = pipeline;
await pipeline.register();

const deadUrls = Object.fromEntries(
  await Promise.all(
    (Object.keys(queues) as QueueName[]).map(async (name) => {
      const QueueName = 'deadLetters' in queues[name] ? name : `${name}Dead`;
      return [name, (await sqs.send(new GetQueueUrlCommand({ QueueName }))).QueueUrl] as const;
    }),
  ),
) as Record<QueueName, string>;

const idOf = (name: string) => `Pipeline${name.charAt(0).toUpperCase()}${name.slice(1)}0123ABCD`;
const queue = (id: string, name: string) => ({ id: idOf(id), type: 'AWS::SQS::Queue', name });
const resources = [
  ...Object.entries(urls).map(([name, url]) => queue(name, url)),
  ...Object.entries(deadUrls)
    .filter(([name]) => name !== 'deadChanges')
    .map(([name, url]) => queue(`${name}Dead`, url)),
  { id: idOf('publishEvents'), type: 'AWS::Lambda::Function', name: 'the-publisher' },
];

/** What the function does with a change: what it does, unless a test has it fail. */
let invoke = async (event: { Records: DynamoDBRecord[] }): Promise<AwsAnswer> => ({
  body: await publish(event, contextOf('publishEvents', 60)),
});
const aws = await startAws({
  'cloudformation:ListStackResources': stackResources(resources),
  'lambda:POST /2015-03-31/functions/the-publisher/invocations': ({ body }) => invoke(body as never),
});
// The queues' engine has its queues in the region of the client that made them.
const AWS_REGION = (await sqs.config.region()) as string;
const shell = { ...aws.shell, AWS_REGION, AWS_ENDPOINT_URL_SQS: process.env[environment.sqsEndpoint] ?? '' };
/** Runs the command as an operator of the stack does. */
const runAs = (environment: Record<string, string>, ...args: string[]) =>
  run(['infra/cli/main.ts', 'dead-letters', ...args, '--stack', 'Crewboard'], environment);
const deadLetters = (...args: string[]) => runAs(shell, ...args);
const send = (name: QueueName, MessageBody: string) =>
  sqs.send(new SendMessageCommand({ QueueUrl: deadUrls[name], MessageBody }));

/** The change that puts a task on the board, as the stream tells it. */
async function change(): Promise<DynamoDBRecord & { taskId: string }> {
  const { id: taskId } = await app().tasks.create(organization, newTask(), undefined);
  const records = await streamed(service, 'task');
  const record = records.find(({ dynamodb }) => dynamodb?.Keys?.sk?.S === taskId.slice(-26)) as DynamoDBRecord;
  return { ...record, taskId };
}

it('lists how many dead letters each queue of the contract has', async () => {
  await send('purges', '{}');
  const { code, stdout, stderr } = await deadLetters('list');
  expect([code, stderr]).toEqual([0, '']);
  const lines = stdout
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => line.split(/ {2,}/));
  expect(lines).toEqual(Object.keys(queues).map((name) => [name, name === 'purges' ? '1' : '0']));
});

it('shows dead letters whole and leaves them where they are', async () => {
  for (const body of ['{"one":1}', '{"two":2}']) await send('executions', body);
  for (const _ of ['once', 'again']) {
    const { code, stdout } = await deadLetters('show', 'executions');
    expect(code).toBe(0);
    expect(stdout.match(/\{.*\}/g)?.sort()).toEqual(['{"one":1}', '{"two":2}']);
  }
  expect((await deadLetters('show', 'executions', '--limit', '1')).stdout.match(/\{.*\}/g)).toHaveLength(1);
  expect(await messagesIn(pipeline, deadUrls.executions)).toBe(2);
});

it('has a change published that was set aside, and only then deletes it', async () => {
  const one = await change();
  await send('deadChanges', JSON.stringify(one));
  expect(await pipeline.receive('deliveries')).toEqual([]);
  const { code, stdout, stderr } = await deadLetters('redrive', 'deadChanges');
  expect([code, stderr, stdout]).toEqual([
    0,
    '',
    '1 handled, 0 set aside again, 0 failed. Only what was handled has left deadChanges.\n',
  ]);
  const [told = ''] = await pipeline.receive('deliveries');
  const delivery = messageOf(told);
  expect(delivery).toMatchObject({ organization, attempt: 1 });
  expect(await messagesIn(pipeline, deadUrls.deadChanges)).toBe(0);
});

it('leaves a change that fails again, for good or for now, and what is no change, beside one that does not', async () => {
  const [good, hopeless, failing, crashing] = [await change(), await change(), await change(), await change()];
  const broken = { ...hopeless, dynamodb: { ...hopeless.dynamodb, NewImage: { kind: { S: 'task' } } } };
  const whole = invoke;
  invoke = async (event) => {
    const [{ eventID } = { eventID: '' }] = event.Records;
    if (eventID === failing.eventID) return { body: { batchItemFailures: [{ itemIdentifier: eventID }] } };
    if (eventID !== crashing.eventID) return whole(event);
    return { headers: { 'x-amz-function-error': 'Unhandled' }, body: { errorMessage: 'Task timed out' } };
  };
  const bodies = [good, broken, failing, crashing].map((record) => JSON.stringify(record));
  for (const body of [...bodies, 'no change']) await send('deadChanges', body);
  const { code, stdout, stderr } = await deadLetters('redrive', 'deadChanges');
  expect([code, stderr]).toEqual([1, '']);
  expect(stdout).toMatch(/^1 handled, 1 set aside again, 3 failed\./);
  expect(stdout).toContain(`npm run trace -- ${failing.eventID} tells why`);
  expect(stdout).toContain('Task timed out');
  expect(stdout).toContain('it is no change of the table');
  const left = await pipeline.receive('deadChanges');
  expect(left.sort()).toEqual([...bodies.slice(1), 'no change'].sort());
});

it('has SQS move the dead letters of a queue back to where they came from', async () => {
  const moving = await startAws({
    'cloudformation:ListStackResources': stackResources(resources),
    'sqs:GetQueueAttributes': ({ body }) => ({
      body: { Attributes: { QueueArn: `arn of ${body.QueueUrl}`, ApproximateNumberOfMessages: '3' } },
    }),
    'sqs:StartMessageMoveTask': () => ({ body: { TaskHandle: 'a handle' } }),
  });
  const { code, stdout } = await runAs(moving.shell, 'redrive', 'firstRetry');
  expect(code).toBe(0);
  expect(stdout).toMatch(/^SQS is moving about 3 back to firstRetry\./);
  const [move] = moving.asked.filter(({ action }) => action === 'sqs:StartMessageMoveTask');
  // No destination: SQS knows where each came from.
  expect(move?.body).toEqual({ SourceArn: `arn of ${deadUrls.firstRetry}` });
});

it('moves nothing where there is nothing', async () => {
  expect((await deadLetters('redrive', 'slowDeliveries')).stdout).toBe('slowDeliveries has no dead letters.\n');
});

it.each([
  ['a list of one queue', ['list', 'deliveries'], /too many arguments/],
  ['no queue to show', ['show'], /missing required argument 'queue'/],
  [
    'a queue that there is not',
    ['show', 'letters'],
    /'letters' is invalid for argument 'queue'\. Allowed choices are deliveries, /,
  ],
  [
    'a limit of nought',
    ['show', 'purges', '--limit', '0'],
    /'0' is invalid\. It must be a whole number from 1 to 9999\./,
  ],
])('refuses %s in a sentence', async (_, args, said) => {
  const { code, stdout, stderr } = await deadLetters(...args);
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(said);
  expect(stderr).not.toMatch(/^\s+at /m);
});

it('says what AWS refuses, and what this shell lacks', async () => {
  const { AWS_REGION: _, ...nowhere } = shell;
  const lost = await runAs(nowhere, 'list');
  expect(lost.stderr).toBe('The stack Crewboard cannot be read: this shell names no region; set AWS_REGION.\n');
  const refusing = await startAws({
    'cloudformation:ListStackResources': stackResources(resources),
    'sqs:GetQueueAttributes': () => ({ status: 403, body: { __type: 'AccessDenied', message: 'You may not.' } }),
  });
  expect((await runAs(refusing.shell, 'list')).stderr).toBe('AWS: You may not.\n');
  // Nobody listens on the first port.
  const cut = await runAs({ ...shell, AWS_ENDPOINT_URL: 'http://127.0.0.1:1' }, 'list');
  expect(cut.stderr).toMatch(
    /^The stack Crewboard cannot be read: AWS cannot be reached from here \(.*ECONNREFUSED.*\); look at the network, the region and AWS_ENDPOINT_URL\.\n$/,
  );
});
