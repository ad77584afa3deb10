import { GetQueueUrlCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { DynamoDBRecord } from 'aws-lambda';
import { expect, it } from 'vitest';
import { deadLettersOf, findRunning, tableName } from '../../../infra/local/running.ts';
import { clientConfig, environment as names, queues } from '../../../lib/contract/deployment.ts';
import { newFolder, run, startDeployment, until } from '../../journeys/deployment.ts';
import { startReceiver } from '../../journeys/receiver.ts';
import { createTask, register } from '../../journeys/stories.ts';
import { streamed } from '../../table-stream.ts';

const service = await startDeployment();
const { environment } = await findRunning(service.dataFolder);
const sqs = new SQSClient(clientConfig(environment[names.sqsEndpoint]));

const deadLetters = (...args: string[]) =>
  run(['infra/cli/main.ts', 'dead-letters', ...args], { CREWBOARD_DATA: service.dataFolder });

async function send(QueueName: string, MessageBody: string): Promise<void> {
  const { QueueUrl } = await sqs.send(new GetQueueUrlCommand({ QueueName }));
  await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody }));
}

/** How many dead letters each queue has, as the list says it. */
async function listed(): Promise<Record<string, string>> {
  const { code, stdout, stderr } = await deadLetters('list');
  expect([code, stderr]).toEqual([0, '']);
  const [, ...lines] = stdout.trimEnd().split('\n');
  return Object.fromEntries(lines.map((line) => line.split(/ {2,}/)));
}

const none = Object.fromEntries(Object.keys(queues).map((name) => [name, '0']));

/** A change that puts a task on the board: that of another task, under an id that no task has. */
async function change(): Promise<DynamoDBRecord & { taskId: string }> {
  const id = await createTask(service, 'Told by hand');
  const endpoint = environment[names.dynamodbEndpoint] as string;
  const records = await streamed({ endpoint, tableName }, 'task');
  const record = records.find(({ dynamodb }) => dynamodb?.Keys?.sk?.S === id.slice(-26)) as DynamoDBRecord;
  const taskId = `${id.slice(0, -1)}${id.endsWith('0') ? '1' : '0'}`;
  return { ...JSON.parse(JSON.stringify(record).replaceAll(id.slice(-26), taskId.slice(-26))), taskId };
}

it('shows dead letters of the service on this machine, and moves them back to their queue', async () => {
  const bodies = ['0', '1'].map((last) =>
    JSON.stringify({ organization: 'local', executionId: `ex_01K0000000000000000000000${last}` }),
  );
  for (const body of bodies) await send(deadLettersOf('executions'), body);
  expect(await listed()).toEqual({ ...none, executions: '2' });
  const shown = await deadLetters('show', 'executions');
  expect(shown.stdout.match(/\{.*\}/g)?.sort()).toEqual(bodies);
  const { code, stdout, stderr } = await deadLetters('redrive', 'executions');
  expect([code, stderr, stdout]).toEqual([
    0,
    '',
    '2 moved back to executions. What fails again comes back here; list tells.\n',
  ]);
  expect(await listed()).toEqual(none);
  // The worker has met them, and there is nothing to carry out.
  for (const body of bodies) await until(`${body} is handled`, () => service.output().includes(body.slice(1, -1)));
  expect((await deadLetters('redrive', 'executions')).stdout).toBe('executions has no dead letters.\n');
});

it('has the very publisher publish a change that was set aside, and leaves what fails again', async () => {
  const receiver = await startReceiver();
  const webhook = await register(service, { url: receiver.url, events: ['task.created'] });
  const good = await change();
  const hopeless = { ...good, eventID: 'hopeless', dynamodb: { ...good.dynamodb, NewImage: { kind: { S: 'task' } } } };
  const left = [JSON.stringify(hopeless), 'no change'];
  for (const body of [JSON.stringify(good), ...left]) await send('deadChanges', body);
  const { code, stdout, stderr } = await deadLetters('redrive', 'deadChanges');
  expect(code).toBe(1);
  expect(stdout).toMatch(
    /^1 handled, 1 set aside again, 1 failed\. Only what was handled has left deadChanges\.\n.*it is no change of the table\n$/,
  );
  // What the publisher logs of it is the operator's to read, beside the answer.
  expect(JSON.parse(stderr)).toMatchObject({ level: 'ERROR', message: 'change set aside', record: 'hopeless' });
  const told = await receiver.once('the change is told', (all) =>
    all.some(({ body }) => body.data.task.id === good.taskId),
  );
  expect(told.every(({ body }) => body.event === 'task.created')).toBe(true);
  expect(
    (await deadLetters('show', 'deadChanges')).stdout
      .match(/^ {2}\S.*$/gm)
      ?.map((line) => line.trim())
      .sort(),
  ).toEqual(left.sort());
  await service.api('DELETE', `/api/webhooks/${webhook}`);
});

it('says that no service runs on the data folder', async () => {
  const dataFolder = newFolder();
  const { code, stdout, stderr } = await run(['infra/cli/main.ts', 'dead-letters', 'list'], {
    CREWBOARD_DATA: dataFolder,
  });
  expect([code, stdout, stderr]).toEqual([
    1,
    '',
    `No Crewboard is running on the data folder ${dataFolder}; start one with npm start.\n`,
  ]);
});
