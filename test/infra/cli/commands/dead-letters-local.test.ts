import type { DynamoDBRecord } from 'aws-lambda';
import { expect, it } from 'vitest';
import { enqueueMessages, type MemoryQueue, receiveMessages } from '../../../../infra/local/queues/memory-queue.ts';
import { createQueues, sendersOf } from '../../../../infra/local/queues/queues.ts';
import { processContext, setProcessContext } from '../../../../lib/context/context.ts';
import { timestamp } from '../../../../lib/contract/ids.ts';
import { environment } from '../../../../lib/names/environment.ts';
import { searchTasks } from '../../../../lib/tasks/search-tasks.ts';
import { createTask, updateTask } from '../../../../lib/tasks/tasks.ts';
import { registerWebhook } from '../../../../lib/webhooks/registration.ts';
import { newCaller, openService } from '../../../service.ts';
import { always, newTask } from '../../../table/tasks/test-table.ts';
import { streamed } from '../../../table-stream.ts';
import { runServed } from '../served.ts';

const service = await openService();
const queues = createQueues();
const variables = { ...process.env, [environment.tableName]: service.tableName };
setProcessContext({ environment: variables, clock: Date.now, queues: sendersOf(queues), table: service.table });
const context = processContext();
const { organization } = await newCaller(context);
const deadLetters = (command: string) => runServed({ context, queues }, `dead-letters ${command}`);

const put = (...bodies: string[]) =>
  enqueueMessages(
    queues.deadLetters,
    bodies.map((body) => ({ body, delaySeconds: 0 })),
  );
const bodiesIn = (queue: MemoryQueue) => receiveMessages(queue, 10).map(({ body }) => body);
const bodiesOf = (stdout: string) => stdout.match(/^ {2}\S.*$/gm)?.map((line) => line.trim());

async function change(): Promise<DynamoDBRecord> {
  const { id: taskId } = await createTask(context, organization, newTask(), undefined);
  const records = await streamed(service, 'task');
  return records.find(({ dynamodb }) => dynamodb?.Keys?.sk?.S === taskId.slice(-26)) as DynamoDBRecord;
}

it('shows dead letters of the service on this machine, sends messages to their queues, and publishes changes', async () => {
  await registerWebhook(context, organization, { url: 'https://example.com', events: ['task.created'] }, undefined);
  const ulid = '01K00000000000000000000000';
  const [execution, delivery] = [
    { organization, executionId: `ex_${ulid}` },
    { organization, webhookId: `wh_${ulid}`, deliveryId: `dlv_${ulid}`, attempt: 1, dueAt: timestamp(0) },
  ].map((message) => JSON.stringify(message)) as [string, string];
  const good = await change();
  const broken = { ...good, eventID: 'hopeless', dynamodb: { ...good.dynamodb, NewImage: { kind: { S: 'task' } } } };
  const [published, hopeless] = [good, broken].map((record) => JSON.stringify(record)) as [string, string];
  put(execution, delivery, published, hopeless);
  const all = [execution, delivery, published, hopeless].sort();
  expect(bodiesOf((await deadLetters('show')).stdout)?.sort()).toEqual(all);

  const { code, stdout } = await deadLetters('redrive');
  expect(code).toBe(1);
  const kinds = 'deliveries 1, executions 1, changes 1';
  expect(stdout.split('\n')[0]).toBe(`3 redriven (${kinds}), 1 set aside again, 0 failed.`);
  expect(bodiesIn(queues.executions)).toEqual([execution]);
  const deliveries = bodiesIn(queues.deliveries);
  expect(deliveries.filter((body) => body === delivery)).toHaveLength(1);
  const [event = '', ...others] = deliveries.filter((body) => body !== delivery);
  expect([JSON.parse(event), others]).toMatchObject([{ organization, attempt: 1 }, []]);
  expect(bodiesOf((await deadLetters('show')).stdout)).toEqual([hopeless]);
});

it('a redriven change of a task leaves its later title in the search', async () => {
  const former = await change();
  const id = `tk_${former.dynamodb?.Keys?.sk?.S}`;
  await updateTask(context, organization, id, { title: 'Latter' }, always);
  put(JSON.stringify(former));
  await deadLetters('redrive');
  const { items } = await searchTasks(context, organization, 'latter', { limit: 20 });
  expect(items.map((task) => task.id)).toEqual([id]);
});
