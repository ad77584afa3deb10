import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  ListQueuesCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { afterAll, expect, it } from 'vitest';
import { startQueueServer } from '../../../../infra/local/queues/queue-server.ts';
import { createQueues } from '../../../../infra/local/queues/queues.ts';
import { clientConfig } from '../../../../lib/aws/client-config.ts';
import { queues as contractQueues } from '../../../../lib/deployment/queues.ts';
import { createQueueSender } from '../../../../lib/sqs/queue.ts';

const server = await startQueueServer(createQueues());
const client = new SQSClient(clientConfig(server.endpoint));
afterAll(async () => {
  client.destroy();
  await server.stop();
});

async function receive(QueueUrl: string, VisibilityTimeout?: number) {
  const request = new ReceiveMessageCommand({
    QueueUrl,
    MaxNumberOfMessages: 10,
    VisibilityTimeout,
    WaitTimeSeconds: 1,
  });
  return (await client.send(request)).Messages ?? [];
}

it('has the URL of every queue under its environment variable', () => {
  const rows = Object.entries(contractQueues).map(([name, { urlVariable }]) => [
    urlVariable,
    server.urls[name as keyof typeof contractQueues],
  ]);
  expect(Object.entries(server.variables)).toEqual(rows);
});

it('receives messages of the SDK, single and in batches, and returns them until they are deleted', async () => {
  const QueueUrl = server.urls.purges;
  const before = Date.now();
  const { MessageId } = await client.send(
    new SendMessageCommand({ QueueUrl, MessageBody: 'über', MessageGroupId: 'g' }),
  );
  await createQueueSender(
    client,
    QueueUrl,
  )([
    { message: { nth: 1 }, delaySeconds: 0 },
    { message: { nth: 2 }, delaySeconds: 900 },
  ]);
  // The SDK compares the digests of the bodies.
  const [first, second, ...more] = await receive(QueueUrl);
  expect([first?.Body, second?.Body, more]).toEqual(['über', '{"nth":1}', []]);
  expect(first?.MessageId).toBe(MessageId);
  expect(Number(first?.Attributes?.SentTimestamp)).toBeGreaterThanOrEqual(before);
  const Entries = [first, second].map((message, at) => ({
    Id: String(at),
    ReceiptHandle: message?.ReceiptHandle,
    VisibilityTimeout: 0,
  }));
  await client.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl, Entries }));
  const again = await receive(QueueUrl, 60);
  expect(again.map(({ Attributes }) => Attributes?.ApproximateReceiveCount)).toEqual(['2', '2']);
  for (const { ReceiptHandle } of again) await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
  expect(await receive(QueueUrl)).toEqual([]);
});

it.each([
  ['an unknown queue', new ReceiveMessageCommand({ QueueUrl: `${server.endpoint}/1/gone` }), 'QueueDoesNotExist'],
  [
    'a delay longer than SQS allows',
    new SendMessageCommand({ QueueUrl: server.urls.purges, MessageBody: 'a', DelaySeconds: 901 }),
    'InvalidParameterValue',
  ],
  ['an unsupported operation', new ListQueuesCommand({}), 'UnsupportedOperation'],
])('answers %s with an error', async (_, command, name) => {
  await expect(client.send(command as ReceiveMessageCommand)).rejects.toMatchObject({ name });
});

it('returns the numbers of visible, received and delayed messages', async () => {
  const QueueUrl = server.urls.firstRetry;
  const delays = [0, 0, 0, 900, 900];
  await createQueueSender(client, QueueUrl)(delays.map((delaySeconds, nth) => ({ message: { nth }, delaySeconds })));
  await client.send(new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 1 }));
  const { Attributes } = await client.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] }));
  expect(Attributes).toEqual({
    ApproximateNumberOfMessages: '2',
    ApproximateNumberOfMessagesNotVisible: '1',
    ApproximateNumberOfMessagesDelayed: '2',
  });
});
