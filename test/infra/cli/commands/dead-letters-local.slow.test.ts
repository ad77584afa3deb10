import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { DynamoDBRecord } from 'aws-lambda';
import { expect, it } from 'vitest';
import { tableName } from '../../../../infra/local/running.ts';
import { clientConfig } from '../../../../lib/aws/client-config.ts';
import { timestamp } from '../../../../lib/contract/ids.ts';
import { environment as names } from '../../../../lib/deployment/environment.ts';
import { until } from '../../../journeys/deployment.ts';
import { createTask, register } from '../../../journeys/requests.ts';
import { streamed } from '../../../table-stream.ts';
import { startReceiver } from '../../../webhooks/sender/receiver.ts';
import { startLocalService } from './local-service.ts';

const { service, environment, dynamodbEndpoint: endpoint, crewboard } = await startLocalService();
const sqs = new SQSClient(clientConfig(environment[names.sqsEndpoint]));
const deadLetters = (...args: string[]) => crewboard('dead-letters', ...args);

async function put(...bodies: string[]): Promise<void> {
  const QueueUrl = environment[names.deadLettersQueueUrl];
  for (const MessageBody of bodies) await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody }));
}

/** Returns the record of a new task: that of an existing task, changed to an unused id. */
async function change(): Promise<DynamoDBRecord & { taskId: string }> {
  const id = await createTask(service, 'A task');
  const records = await streamed({ endpoint, tableName }, 'task');
  const record = records.find(({ dynamodb }) => dynamodb?.Keys?.sk?.S === id.slice(-26)) as DynamoDBRecord;
  const taskId = `${id.slice(0, -1)}${id.endsWith('0') ? '1' : '0'}`;
  return { ...JSON.parse(JSON.stringify(record).replaceAll(id.slice(-26), taskId.slice(-26))), taskId };
}

const bodiesOf = (stdout: string) => stdout.match(/^ {2}\S.*$/gm)?.map((line) => line.trim());

it('shows dead letters of the service on this machine, sends messages to their queues, and publishes changes', async () => {
  const receiver = await startReceiver();
  await register(service, { url: receiver.url, events: ['task.created'] });
  const ulid = '01K00000000000000000000000';
  const messages = [
    { organization: 'local', executionId: `ex_${ulid}` },
    { organization: 'local', webhookId: `wh_${ulid}`, deliveryId: `dlv_${ulid}`, attempt: 1, dueAt: timestamp(0) },
  ].map((message) => JSON.stringify(message));
  const good = await change();
  const broken = { ...good, eventID: 'hopeless', dynamodb: { ...good.dynamodb, NewImage: { kind: { S: 'task' } } } };
  const [published, hopeless] = [good, broken].map((record) => JSON.stringify(record)) as [string, string];
  await put(...messages, published, hopeless);
  const all = [...messages, published, hopeless].sort();
  expect(bodiesOf((await deadLetters('show')).stdout)?.sort()).toEqual(all);
  const { code, stdout, stderr } = await deadLetters('redrive');
  expect(code).toBe(1);
  const kinds = 'deliveries 1, executions 1, changes 1';
  expect(stdout.split('\n')[0]).toBe(`3 redriven (${kinds}), 1 set aside again, 0 failed.`);
  // The operator sees the log of the publisher on standard error.
  expect(JSON.parse(stderr)).toMatchObject({ level: 'ERROR', message: 'change set aside', record: 'hopeless' });
  // A consumer has handled each message, for which there is nothing to do.
  for (const body of messages) await until(`${body} is handled`, () => service.output().includes(body.slice(1, -1)));
  await receiver.once('the change is delivered', (all) => all.some(({ body }) => body.data.task.id === good.taskId));
  expect(bodiesOf((await deadLetters('show')).stdout)).toEqual([hopeless]);
});
