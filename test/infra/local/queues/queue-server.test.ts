import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  ListQueuesCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { afterAll, describe, expect, it } from 'vitest';
import { startQueueServer } from '../../../../infra/local/queues/queue-server.ts';
import { createQueues } from '../../../../infra/local/queues/queues.ts';
import { clientConfig, unsignedHeaders } from '../../../../lib/aws/client-config.ts';
import { queues as contractQueues, type QueueName } from '../../../../lib/deployment/queues.ts';
import { createQueueSender } from '../../../../lib/sqs/queue.ts';
import { sendRequest } from '../../../api-over-http.ts';

const server = await startQueueServer(createQueues());
const client = new SQSClient(clientConfig(server.endpoint));
afterAll(async () => {
  client.destroy();
  await server.stop();
});

async function receive(QueueUrl: string, VisibilityTimeout?: number) {
  const options = { MaxNumberOfMessages: 10, VisibilityTimeout, WaitTimeSeconds: 1 };
  return (await client.send(new ReceiveMessageCommand({ QueueUrl, ...options }))).Messages ?? [];
}

const sendDelayed = (QueueUrl: string, ...delays: number[]) =>
  createQueueSender(client, QueueUrl)(delays.map((delaySeconds, nth) => ({ message: { nth }, delaySeconds })));

it('has the URL of every queue under its environment variable', () => {
  const urls = Object.entries(server.urls).map(([name, url]) => [contractQueues[name as QueueName].urlVariable, url]);
  expect(urls).toHaveLength(Object.keys(contractQueues).length);
  expect(server.variables).toEqual(Object.fromEntries(urls));
});

it('receives messages of the SDK, single and in batches, and returns them until they are deleted', async () => {
  const QueueUrl = server.urls.executions;
  const before = Date.now();
  const single = new SendMessageCommand({ QueueUrl, MessageBody: 'über', MessageGroupId: 'g' });
  const { MessageId } = await client.send(single);
  await sendDelayed(QueueUrl, 0, 900);
  // The SDK compares the digests of the bodies.
  const received = await receive(QueueUrl);
  expect(received).toMatchObject([{ Body: 'über', MessageId }, { Body: '{"nth":0}' }]);
  expect(Number(received[0]?.Attributes?.SentTimestamp)).toBeGreaterThanOrEqual(before);
  const Entries = received.map(({ ReceiptHandle }, at) => ({ Id: String(at), ReceiptHandle, VisibilityTimeout: 0 }));
  await client.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl, Entries }));
  const again = await receive(QueueUrl, 60);
  expect(again.map(({ Attributes }) => Attributes?.ApproximateReceiveCount)).toEqual(['2', '2']);
  for (const { ReceiptHandle } of again) await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
  expect(await receive(QueueUrl)).toEqual([]);
});

describe('a request to the queues', async () => {
  const { username: key, port } = new URL(server.endpoint);
  const other = await startQueueServer(createQueues());
  afterAll(other.stop);
  const { username: keyOfOther } = new URL(other.endpoint);
  const QueueUrl = server.urls.secondRetry;
  const sendWith = (headers: Record<string, string>) =>
    sendRequest(new URL(QueueUrl).origin, {
      method: 'POST',
      headers: { 'X-Amz-Target': 'AmazonSQS.SendMessage', ...headers },
      body: { QueueUrl, MessageBody: 'forged' },
    });

  it.each([
    ['without a key', {}],
    ['with an empty key', unsignedHeaders('')],
    ['with the key of other local engines', unsignedHeaders()],
    ['with the key of another start', unsignedHeaders(keyOfOther)],
    ['of a page', { ...unsignedHeaders(key), Origin: `http://127.0.0.1:${port}` }],
    ['of a sandboxed page', { ...unsignedHeaders(key), Origin: 'null' }],
    ['for another host', { ...unsignedHeaders(key), Host: `page.example.com:${port}` }],
    ['for another port', { ...unsignedHeaders(key), Host: '127.0.0.1:80' }],
  ])('%s is rejected and changes nothing', async (_, headers) => {
    const { status, body } = await sendWith(headers);
    expect([status, body]).toMatchObject([403, { __type: 'com.amazonaws.sqs#AccessDenied' }]);
    expect(await receive(QueueUrl)).toEqual([]);
  });

  it('with the key is accepted, also for localhost', async () => {
    expect((await sendWith({ ...unsignedHeaders(key), Host: `localhost:${port}` })).status).toBe(200);
    expect(await receive(QueueUrl)).toMatchObject([{ Body: 'forged' }]);
  });
});

const late = { QueueUrl: server.urls.executions, MessageBody: 'a', DelaySeconds: 901 };

it.each([
  ['an unknown queue', new ReceiveMessageCommand({ QueueUrl: `${server.endpoint}/1/gone` }), 'QueueDoesNotExist'],
  ['a delay longer than SQS allows', new SendMessageCommand(late), 'InvalidParameterValue'],
  ['an unsupported operation', new ListQueuesCommand({}), 'UnsupportedOperation'],
])('answers %s with an error', async (_, command, name) => {
  await expect(client.send(command as ReceiveMessageCommand)).rejects.toMatchObject({ name });
});

it('returns the numbers of visible, received and delayed messages', async () => {
  const QueueUrl = server.urls.firstRetry;
  await sendDelayed(QueueUrl, 0, 0, 0, 900, 900);
  await client.send(new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 1 }));
  const { Attributes } = await client.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] }));
  expect(Attributes).toEqual({
    ApproximateNumberOfMessages: '2',
    ApproximateNumberOfMessagesNotVisible: '1',
    ApproximateNumberOfMessagesDelayed: '2',
  });
});
