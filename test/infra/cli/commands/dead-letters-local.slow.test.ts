import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { DynamoDBRecord } from 'aws-lambda';
import { expect, it } from 'vitest';
import { findRunning, tableName } from '../../../../infra/local/running.ts';
import { clientConfig } from '../../../../lib/aws/client-config.ts';
import { timestamp } from '../../../../lib/contract/ids.ts';
import { environment as names } from '../../../../lib/deployment/environment.ts';
import { run, startDeployment, until } from '../../../journeys/deployment.ts';
import { startReceiver } from '../../../journeys/receiver.ts';
import { createTask, register } from '../../../journeys/requests.ts';
import { streamed } from '../../../table-stream.ts';

const service = await startDeployment();
const { environment } = await findRunning(service.dataFolder);
const sqs = new SQSClient(clientConfig(environment[names.sqsEndpoint]));

const deadLetters = (...args: string[]) =>
  run(['infra/cli/main.ts', 'dead-letters', ...args], { CREWBOARD_DATA: service.dataFolder });

async function put(...bodies: string[]): Promise<void> {
  const QueueUrl = environment[names.deadLettersQueueUrl];
  for (const MessageBody of bodies) await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody }));
}

/** Returns the record of a new task: that of an existing task, changed to an unused id. */
async function change(): Promise<DynamoDBRecord & { taskId: string }> {
  const id = await createTask(service, 'A task');
  const endpoint = environment[names.dynamodbEndpoint] as string;
  const records = await streamed({ endpoint, tableName }, 'task');
  const record = records.find(({ dynamodb }) => dynamodb?.Keys?.sk?.S === id.slice(-26)) as DynamoDBRecord;
  const taskId = `${id.slice(0, -1)}${id.endsWith('0') ? '1' : '0'}`;
  return { ...JSON.parse(JSON.stringify(record).replaceAll(id.slice(-26), taskId.slice(-26))), taskId };
}

const bodiesOf = (stdout: string) => stdout.match(/^ {2}\S.*$/gm)?.map((line) => line.trim());

it('shows dead letters of the service on this machine, and sends each to its queue', async () => {
  const ulid = '01K00000000000000000000000';
  const bodies = [
    { organization: 'local', executionId: `ex_${ulid}` },
    { organization: 'local', agentId: `ag_${ulid}` },
    { organization: 'local', webhookId: `wh_${ulid}`, deliveryId: `dlv_${ulid}`, attempt: 1, dueAt: timestamp(0) },
  ].map((message) => JSON.stringify(message));
  await put(...bodies);
  expect(bodiesOf((await deadLetters('show')).stdout)?.sort()).toEqual(bodies.toSorted());
  const { code, stdout, stderr } = await deadLetters('redrive');
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^3 redriven \(deliveries 1, executions 1, purges 1\), 0 set aside again, 0 failed\.\n/);
  // A consumer has handled each message, for which there is nothing to do.
  for (const body of bodies) await until(`${body} is handled`, () => service.output().includes(body.slice(1, -1)));
  expect((await deadLetters('redrive')).stdout).toBe('There are no dead letters.\n');
});

it('publishes a change that was set aside, and keeps a change that fails again', async () => {
  const receiver = await startReceiver();
  await register(service, { url: receiver.url, events: ['task.created'] });
  const good = await change();
  const hopeless = { ...good, eventID: 'hopeless', dynamodb: { ...good.dynamodb, NewImage: { kind: { S: 'task' } } } };
  await put(JSON.stringify(good), JSON.stringify(hopeless));
  const { code, stdout, stderr } = await deadLetters('redrive');
  expect(code).toBe(1);
  expect(stdout).toMatch(/^1 redriven \(changes 1\), 1 set aside again, 0 failed\.\n/);
  // The operator sees the log of the publisher on standard error.
  expect(JSON.parse(stderr)).toMatchObject({ level: 'ERROR', message: 'change set aside', record: 'hopeless' });
  await receiver.once('the change is delivered', (all) => all.some(({ body }) => body.data.task.id === good.taskId));
  expect(bodiesOf((await deadLetters('show')).stdout)).toEqual([JSON.stringify(hopeless)]);
});
