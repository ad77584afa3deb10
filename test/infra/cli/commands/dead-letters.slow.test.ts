import { PurgeQueueCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import type { DynamoDBRecord } from 'aws-lambda';
import { beforeEach, expect, it } from 'vitest';
import { handler as publish } from '../../../../functions/pipeline/publish-events.ts';
import { contextOf } from '../../../../infra/local/functions.ts';
import { processContext } from '../../../../lib/context/context.ts';
import { environment } from '../../../../lib/names/environment.ts';
import type { QueueName } from '../../../../lib/names/queues.ts';
import { createTask } from '../../../../lib/tasks/tasks.ts';
import { messagesIn } from '../../../functions/pipeline/delivery-queues.ts';
import { createTestPipeline, messageOf } from '../../../functions/pipeline/test-pipeline.ts';
import { newTask } from '../../../table/tasks/test-table.ts';
import { streamed } from '../../../table-stream.ts';
import { type AwsAnswer, errorOf, stackResources, startAws } from '../aws.ts';
import { columnsOf, crewboardIn } from './local-service.ts';

const pipeline = await createTestPipeline();
const { organization, urls, sqs, service } = pipeline;
await pipeline.register();

const idOf = (name: string) => `Pipeline${name.charAt(0).toUpperCase()}${name.slice(1)}0123ABCD`;
const resources = [
  ...Object.entries(urls).map(([name, url]) => ({ id: idOf(name), type: 'AWS::SQS::Queue', name: url })),
  { id: idOf('publishEvents'), type: 'AWS::Lambda::Function', name: 'the-publisher' },
];

/** Invokes the function that publishes events; tests replace it by one that fails. */
let invoke = async (event: { Records: DynamoDBRecord[] }): Promise<AwsAnswer> => ({
  body: await publish(event, contextOf('publishEvents', 60)),
});
const aws = await startAws({
  'cloudformation:ListStackResources': stackResources(resources),
  'lambda:POST /2015-03-31/functions/the-publisher/invocations': ({ body }) => invoke(body as never),
});
// The engine of the queues has its queues in the region of the client that created them.
const AWS_REGION = (await sqs.config.region()) as string;
const shell = { ...aws.shell, AWS_REGION, AWS_ENDPOINT_URL_SQS: process.env[environment.sqsEndpoint] ?? '' };
/** Runs the command with a shell of an operator of the stack. */
const runAs = (environment: Record<string, string>, ...args: string[]) =>
  crewboardIn(environment, 'dead-letters', ...args, '--stack', 'Crewboard');
const deadLetters = (...args: string[]) => runAs(shell, ...args);
async function put(...bodies: string[]): Promise<void> {
  for (const MessageBody of bodies) await sqs.send(new SendMessageCommand({ QueueUrl: urls.deadLetters, MessageBody }));
}

beforeEach(async () => {
  const names: QueueName[] = ['deadLetters', 'deliveries', 'executions'];
  for (const name of names) await sqs.send(new PurgeQueueCommand({ QueueUrl: urls[name] }));
});

const ulid = '01K00000000000000000000000';
const ids = { organization, webhookId: `wh_${ulid}`, deliveryId: `dlv_${ulid}` };
const delivery = { ...ids, attempt: 3, dueAt: '2026-03-01T12:00:00.000Z' };
const execution = { organization, executionId: `ex_${ulid}` };
const json = (value: unknown) => JSON.stringify(value);
const bodiesOf = (stdout: string) => stdout.match(/^ {2}\S.*$/gm)?.map((line) => line.trim());

async function change(): Promise<DynamoDBRecord & { taskId: string }> {
  const { id: taskId } = await createTask(processContext(), organization, newTask(), undefined);
  const records = await streamed(service, 'task');
  const record = records.find(({ dynamodb }) => dynamodb?.Keys?.sk?.S === taskId.slice(-26)) as DynamoDBRecord;
  return { ...record, taskId };
}

it('counts the dead letters of each kind, with the time of the oldest', async () => {
  const before = Date.now();
  await put(
    json(execution),
    json(delivery),
    'no message',
    json({ ...execution, executionId: `ex_${ulid.slice(0, -1)}1` }),
  );
  const { code, stdout, stderr } = await deadLetters('list');
  expect([code, stderr]).toEqual([0, '']);
  const [, ...rows] = columnsOf(stdout);
  const counts = { deliveries: '1', executions: '2', changes: '0', unreadable: '1' };
  expect(rows.map(([kind, count]) => [kind, count])).toEqual(Object.entries(counts));
  for (const [, count, oldest = ''] of rows)
    if (count === '0') expect(oldest).toBe('');
    else expect(Date.parse(oldest)).toBeGreaterThanOrEqual(before);
});

it('shows all dead letters or those of a kind, and keeps them in the queue', async () => {
  const bodies = [json(execution), '{"none":1}', json(delivery)];
  await put(...bodies);
  for (const _ of ['once', 'again']) {
    const { code, stdout } = await deadLetters('show');
    expect([code, bodiesOf(stdout)?.sort()]).toEqual([0, bodies.toSorted()]);
  }
  expect(bodiesOf((await deadLetters('show', 'unreadable')).stdout)).toEqual(['{"none":1}']);
  expect(bodiesOf((await deadLetters('show', '--limit', '2')).stdout)).toHaveLength(2);
  expect((await deadLetters('show', 'changes')).stdout).toBe('There are no dead letters of the kind changes.\n');
});

it('publishes a change that was set aside, and keeps unreadable dead letters and changes that fail again', async () => {
  const [good, hopeless, failing, crashing] = [await change(), await change(), await change(), await change()];
  const broken = { ...hopeless, dynamodb: { ...hopeless.dynamodb, NewImage: { kind: { S: 'task' } } } };
  const working = invoke;
  invoke = async (event) => {
    const [{ eventID } = { eventID: '' }] = event.Records;
    if (eventID === failing.eventID) return { body: { batchItemFailures: [{ itemIdentifier: eventID }] } };
    if (eventID !== crashing.eventID) return working(event);
    return { headers: { 'x-amz-function-error': 'Unhandled' }, body: { errorMessage: 'Task timed out' } };
  };
  const left = [...[broken, failing, crashing].map(json), 'no change'];
  await put(json(good), ...left, json(execution));
  const { code, stdout, stderr } = await deadLetters('redrive');
  expect([code, stderr]).toEqual([1, '']);
  expect(stdout).toMatch(/^2 redriven \(executions 1, changes 1\), 1 set aside again, 3 failed\.\n/);
  expect(stdout).toContain(`npm run crewboard -- trace ${failing.eventID} for the error`);
  expect(stdout).toContain('Task timed out');
  expect(stdout).toContain('it is unreadable');
  expect((await pipeline.receive('deadLetters')).sort()).toEqual(left.sort());
  expect(await pipeline.receive('executions')).toEqual([json(execution)]);
  const [delivered = '', ...others] = await pipeline.receive('deliveries');
  expect(messageOf(delivered)).toMatchObject({ organization, attempt: 1 });
  expect(others).toEqual([]);
});

it('redrives the messages of one kind only', async () => {
  await put(...[delivery, { ...delivery, slow: true }, execution].map(json));
  const { code, stdout, stderr } = await deadLetters('redrive', 'deliveries');
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^2 redriven \(deliveries 2\), 0 set aside again, 0 failed\.\n/);
  // The message has no `slow` any more: the consumer determines again whether the webhook is slow.
  expect(await pipeline.receive('deliveries')).toEqual([json(delivery), json(delivery)]);
  expect(await pipeline.receive('deadLetters')).toEqual([json(execution)]);
  expect(await messagesIn(pipeline, urls.executions)).toBe(0);
});

it('deletes the dead letters of one kind only', async () => {
  await put(json(delivery), 'no message', json(execution));
  for (const stdout of ['1 dropped.\n', 'There are no dead letters of the kind unreadable.\n'])
    expect(await deadLetters('drop', 'unreadable')).toMatchObject({ code: 0, stdout, stderr: '' });
  expect((await pipeline.receive('deadLetters')).sort()).toEqual([delivery, execution].map(json).sort());
});

it.each([
  ['show letters', /'letters' is invalid for argument 'kind'\. Allowed choices are deliveries, /],
  [
    'redrive unreadable',
    /'unreadable' is invalid for argument 'kind'\. Allowed choices are deliveries, executions, changes\./,
  ],
  ['show executions --limit 0', /'0' is invalid\. It must be a whole number from 1 to 9999\./],
])('rejects %j in one sentence', async (command, message) => {
  expect(errorOf(await deadLetters(...command.split(' ')))).toMatch(message);
});

it('reports errors of AWS, and a missing configuration of the shell', async () => {
  const { AWS_REGION, ...nowhere } = shell;
  const unread = 'The stack Crewboard cannot be read:';
  expect(errorOf(await runAs(nowhere, 'list'))).toBe(`${unread} this shell has no AWS region; set AWS_REGION.\n`);
  const denying = await startAws({
    'cloudformation:ListStackResources': stackResources(resources),
    'sqs:ReceiveMessage': () => ({ status: 403, body: { __type: 'AccessDenied', message: 'You may not.' } }),
  });
  expect(errorOf(await runAs(denying.shell, 'list'))).toBe('AWS: You may not.\n');
  // No server listens on port 1.
  expect(errorOf(await runAs({ ...shell, AWS_ENDPOINT_URL: 'http://127.0.0.1:1' }, 'list'))).toMatch(
    /^The stack Crewboard cannot be read: AWS cannot be reached \(.*ECONNREFUSED.*\); check the network, the region and AWS_ENDPOINT_URL\.\n$/,
  );
});
