import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type QueueName, queues as rows } from '../../../lib/deployment/queues.ts';
import { changeVisibility, deleteMessage, type MemoryQueue, receiveMessages, sendMessages } from './memory-queue.ts';
import type { Queues } from './queues.ts';

/** The running server: where it answers, and each queue's URL, also by the variable that functions read it from. */
export type QueueServer = {
  endpoint: string;
  urls: Record<QueueName, string>;
  variables: Record<string, string>;
  stop: () => Promise<void>;
};

/**
 * Serves the queues on the loopback to other processes: the part of the JSON protocol of SQS that the command line uses
 * (`infra/cli`), with its publisher. A receiver never waits, for it sees all messages at once.
 */
export async function startQueueServer(queues: Queues): Promise<QueueServer> {
  const server = createServer(async (request, response) => {
    const { status, body } = await answer(queues, request);
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const names = Object.keys(rows) as QueueName[];
  const urlOf = (name: QueueName) => `${endpoint}/000000000000/${name}`;
  return {
    endpoint,
    urls: Object.fromEntries(names.map((name) => [name, urlOf(name)])) as QueueServer['urls'],
    variables: Object.fromEntries(names.map((name) => [rows[name].urlVariable, urlOf(name)])),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

type Answer = { status: number; body: object };
type Sent = { MessageBody: string; DelaySeconds?: number };

async function answer(queues: Queues, request: IncomingMessage): Promise<Answer> {
  try {
    const operation = String(request.headers['x-amz-target']).replace(/^AmazonSQS\./, '');
    const input = JSON.parse(Buffer.concat(await Array.fromAsync(request as AsyncIterable<Buffer>)).toString('utf8'));
    const operate = operations[operation];
    if (!operate) return fault('UnsupportedOperation', `The local queues have no operation ${operation}.`);
    const queue = queues[String(input.QueueUrl).split('/').at(-1) as QueueName];
    if (!queue) return fault('QueueDoesNotExist', `There is no queue ${input.QueueUrl}.`);
    return { status: 200, body: operate(queue, input) };
  } catch (error) {
    return fault('InvalidParameterValue', (error as Error).message);
  }
}

const fault = (type: string, message: string): Answer => ({
  status: 400,
  body: { __type: `com.amazonaws.sqs#${type}`, message },
});

/** The operations, with the names of the SQS API reference. */
// biome-ignore lint/suspicious/noExplicitAny: the SDK of the caller has checked the input.
const operations: Record<string, (queue: MemoryQueue, input: any) => object> = {
  SendMessage: (queue, message: Sent) => send(queue, [message])[0] as object,
  SendMessageBatch: (queue, { Entries }: { Entries: (Sent & { Id: string })[] }) => {
    const sent = send(queue, Entries);
    return { Successful: sent.map((one, at) => ({ ...one, Id: Entries[at]?.Id })), Failed: [] };
  },
  ReceiveMessage: (queue, input: { MaxNumberOfMessages?: number; VisibilityTimeout?: number }) => ({
    Messages: receiveMessages(queue, input.MaxNumberOfMessages ?? 1, input.VisibilityTimeout).map((message) => ({
      MessageId: message.id,
      ReceiptHandle: message.receiptHandle,
      Body: message.body,
      MD5OfBody: md5(message.body),
      Attributes: { SentTimestamp: String(message.sentAt), ApproximateReceiveCount: String(message.receiveCount) },
    })),
  }),
  GetQueueAttributes: ({ visible, received, delayed }) => ({
    Attributes: {
      ApproximateNumberOfMessages: String(visible.size),
      ApproximateNumberOfMessagesNotVisible: String(received.size),
      ApproximateNumberOfMessagesDelayed: String(delayed.size),
    },
  }),
  DeleteMessage: (queue, { ReceiptHandle }: { ReceiptHandle: string }) => {
    deleteMessage(queue, ReceiptHandle);
    return {};
  },
  ChangeMessageVisibilityBatch: (queue, { Entries }: { Entries: Hidden[] }) => {
    for (const { ReceiptHandle, VisibilityTimeout } of Entries)
      changeVisibility(queue, ReceiptHandle, VisibilityTimeout);
    return { Successful: Entries.map(({ Id }) => ({ Id })), Failed: [] };
  },
};

type Hidden = { Id: string; ReceiptHandle: string; VisibilityTimeout: number };

function send(queue: MemoryQueue, messages: readonly Sent[]): { MessageId: string; MD5OfMessageBody: string }[] {
  const ids = sendMessages(
    queue,
    messages.map(({ MessageBody, DelaySeconds = 0 }) => ({ body: MessageBody, delaySeconds: DelaySeconds })),
  );
  return messages.map(({ MessageBody }, at) => ({
    MessageId: ids[at] as string,
    MD5OfMessageBody: md5(MessageBody),
  }));
}

const md5 = (text: string) => createHash('md5').update(text).digest('hex');
