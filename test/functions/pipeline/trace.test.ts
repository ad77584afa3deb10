import type { DynamoDBRecord } from 'aws-lambda';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { processContext } from '../../../lib/context/context.ts';
import type { QueueName } from '../../../lib/names/queues.ts';
import { createApi, dataOf } from '../../api.ts';
import { startReceiver } from '../../sender/receiver.ts';
import type { Answer } from '../../service.ts';
import { streamed } from '../../table-stream.ts';
import { consume, publish, runJob } from './call-functions.ts';
import { createTestPipeline } from './test-pipeline.ts';

const { service, token, register, receive } = await createTestPipeline();
const api = createApi(token);
let lines: object[];

beforeEach(() => {
  lines = [];
  const keep = (message: unknown, ...more: unknown[]) => void lines.push({ message, ...(more[0] as object) });
  for (const level of ['info', 'error'] as const) vi.spyOn(processContext().log, level).mockImplementation(keep);
});

const requestIdOf = ({ headers }: Answer) => headers['X-Request-Id'] as string;
const addTask = () => api.createTask({ body: { title: 'Trace me' } });

/** Publishes the changes of a kind that a request has made. */
async function publishChanges(kind: string, of: Answer): Promise<DynamoDBRecord[]> {
  const records = await streamed(service, kind);
  const made = records.filter(({ dynamodb }) => dynamodb?.NewImage?.requestId?.S === requestIdOf(of));
  await publish(...made);
  return made;
}

/** Receives the one message of a queue, which names the request. */
async function messageOfRequest(queue: QueueName, of: Answer): Promise<string> {
  const [message = '', ...more] = await receive(queue);
  expect([JSON.parse(message).requestId, more]).toEqual([requestIdOf(of), []]);
  return message;
}

describe('a request id', () => {
  it('is on the item that the request made, on the message of its event, and in the line of the attempt', async () => {
    const { url } = await startReceiver();
    await register(url);
    const created = await addTask();
    expect(await publishChanges('task', created)).toHaveLength(1);
    const message = await messageOfRequest('deliveries', created);
    await consume('deliverWebhook', message);
    const { requestId, deliveryId } = JSON.parse(message);
    const line = { message: 'message', requestId, deliveryId, AttemptsDelivered: 1 };
    expect(lines).toContainEqual(expect.objectContaining(line));
  });

  it('is that of the last request on an item that several have changed', async () => {
    const created = await addTask();
    const { id } = dataOf(created);
    const updated = await api.updateTask({ params: { id }, body: { status: 'done' } });
    expect(requestIdOf(updated)).not.toBe(requestIdOf(created));
    const [changed, ...more] = await publishChanges('task', updated);
    expect([changed?.dynamodb?.OldImage?.requestId?.S, more]).toEqual([requestIdOf(created), []]);
  });

  it('goes from the start of an execution to its worker, and from a deletion to its purge', async () => {
    const params = { name: 'traced' };
    await api.createAgent({ body: { ...params, displayName: 'Traced', category: 'qa' } });
    const started = await api.executeAgent({ params, body: { input: 'Work.' } });
    await publishChanges('execution', started);
    await messageOfRequest('executions', started);

    const deleted = await api.deleteAgent({ params });
    await runJob('purges');
    const line = { message: 'message', requestId: requestIdOf(deleted) };
    expect(lines).toContainEqual(expect.objectContaining(line));
  });
});
