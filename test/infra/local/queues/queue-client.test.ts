import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  ListQueuesCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
} from '@aws-sdk/client-sqs';
import { expect, it } from 'vitest';
import { createQueueClient } from '../../../../infra/local/queues/queue-client.ts';
import { createQueues } from '../../../../infra/local/queues/queues.ts';
import { createQueueSender } from '../../../../lib/aws/queue.ts';

const { sqs, urls } = createQueueClient(createQueues());

async function receive(QueueUrl: string, VisibilityTimeout?: number) {
  const options = { MaxNumberOfMessages: 10, VisibilityTimeout, WaitTimeSeconds: 1 };
  return (await sqs.send(new ReceiveMessageCommand({ QueueUrl, ...options }))).Messages ?? [];
}

const sendDelayed = (QueueUrl: string, ...delays: number[]) =>
  createQueueSender(sqs, QueueUrl)(delays.map((delaySeconds, nth) => ({ message: { nth }, delaySeconds })));

it('receives messages, sent alone and in batches, and returns them until they are deleted', async () => {
  const QueueUrl = urls.executions;
  const before = Date.now();
  await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: 'über', MessageGroupId: 'g' }));
  await sendDelayed(QueueUrl, 0, 900);
  const received = await receive(QueueUrl);
  expect(received.map(({ Body }) => Body)).toEqual(['über', '{"nth":0}']);
  expect(Number(received[0]?.Attributes?.SentTimestamp)).toBeGreaterThanOrEqual(before);
  expect(await receive(QueueUrl)).toEqual([]);
  const Entries = received.map(({ ReceiptHandle }, at) => ({ Id: String(at), ReceiptHandle, VisibilityTimeout: 0 }));
  await sqs.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl, Entries }));
  const again = await receive(QueueUrl, 60);
  expect(again.map(({ MessageId }) => MessageId)).toEqual(received.map(({ MessageId }) => MessageId));
  for (const { ReceiptHandle } of again) await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
  expect(await receive(QueueUrl)).toEqual([]);
});

it('returns the numbers of visible, received and delayed messages', async () => {
  const QueueUrl = urls.firstRetry;
  await sendDelayed(QueueUrl, 0, 0, 0, 900, 900);
  await sqs.send(new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 1 }));
  const { Attributes } = await sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] }));
  expect(Attributes).toEqual({
    ApproximateNumberOfMessages: '2',
    ApproximateNumberOfMessagesNotVisible: '1',
    ApproximateNumberOfMessagesDelayed: '2',
  });
});

it.each([
  ['an unknown queue', new ReceiveMessageCommand({ QueueUrl: 'gone' }), 'The queue gone does not exist.'],
  [
    'a delay longer than SQS allows',
    new SendMessageCommand({ QueueUrl: urls.executions, MessageBody: 'a', DelaySeconds: 901 }),
    'The delay of 901 s is invalid',
  ],
  ['an unsupported command', new ListQueuesCommand({}), 'The local queues do not support ListQueuesCommand.'],
])('rejects %s', async (_, command, message) => {
  await expect(sqs.send(command as ReceiveMessageCommand)).rejects.toThrow(message);
});
