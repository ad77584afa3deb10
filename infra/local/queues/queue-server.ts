import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type QueueName, queues as rows } from '../../../lib/deployment/queues.ts';
import { hashSecret, isSecret } from '../../../lib/http/token.ts';
import { changeVisibility, deleteMessage, type MemoryQueue, receiveMessages, sendMessages } from './memory-queue.ts';
import type { Queues } from './queues.ts';

/**
 * The running server: its endpoint, which contains the key of this start, the URL of each queue, and the environment
 * variables with these URLs.
 */
export type QueueServer = {
  endpoint: string;
  urls: Record<QueueName, string>;
  variables: Record<string, string>;
  stop: () => Promise<void>;
};

/**
 * Serves the queues on the loopback to other processes. It has the operations of SQS's JSON protocol that the command line
 * (`infra/cli`) uses. A receive never waits, because it sees all messages at once.
 *
 * Other users of the machine can connect to its port, and so can the pages in a browser. A request therefore needs the key
 * of this start as its access key, and may be neither from a page nor for another host, as after DNS rebinding.
 */
export async function startQueueServer(queues: Queues): Promise<QueueServer> {
  const key = randomBytes(32).toString('base64url');
  const keyHash = hashSecret(key);
  const server = createServer(async (request, response) => {
    const { status, body } = isAllowed(request.headers, port, keyHash) ? await answer(queues, request) : notAllowed;
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const names = Object.keys(rows) as QueueName[];
  const urlOf = (name: QueueName) => `http://127.0.0.1:${port}/000000000000/${name}`;
  return {
    endpoint: `http://${key}@127.0.0.1:${port}`,
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

/** Returns whether a request is for this server by name, has its key, and is not from a page in a browser. */
function isAllowed({ host, origin, authorization = '' }: IncomingHttpHeaders, port: number, keyHash: string): boolean {
  const isHost = host === `127.0.0.1:${port}` || host === `localhost:${port}`;
  const [, given = ''] = /Credential=([^/,]+)\//.exec(authorization) ?? [];
  return isHost && origin === undefined && isSecret(given, keyHash);
}

async function answer(queues: Queues, request: IncomingMessage): Promise<Answer> {
  try {
    const name = String(request.headers['x-amz-target']).replace(/^AmazonSQS\./, '');
    const text = Buffer.concat(await Array.fromAsync(request as AsyncIterable<Buffer>)).toString('utf8');
    if (!isSupported(name)) return fault('UnsupportedOperation', `The local queues do not support ${name}.`);
    // The SDK of the caller has checked the input.
    const input = JSON.parse(text) as Inputs[typeof name] & { QueueUrl: string };
    const queue = queues[input.QueueUrl.split('/').at(-1) as QueueName];
    if (!queue) return fault('QueueDoesNotExist', `The queue ${input.QueueUrl} does not exist.`);
    return { status: 200, body: operate(name, queue, input) };
  } catch (error) {
    return fault('InvalidParameterValue', (error as Error).message);
  }
}

const fault = (type: string, message: string, status = 400): Answer => ({
  status,
  body: { __type: `com.amazonaws.sqs#${type}`, message },
});

const notAllowed = fault(
  'AccessDenied',
  'Only the commands of the owner of this service may use its queues; run them with the CREWBOARD_DATA of the service.',
  403,
);

type NewMessage = { MessageBody: string; DelaySeconds?: number };
type Visibility = { Id: string; ReceiptHandle: string; VisibilityTimeout: number };

/** The supported operations with the fields of their inputs, by the names of the SQS API reference. */
type Inputs = {
  SendMessage: NewMessage;
  SendMessageBatch: { Entries: (NewMessage & { Id: string })[] };
  ReceiveMessage: { MaxNumberOfMessages?: number; VisibilityTimeout?: number };
  GetQueueAttributes: object;
  DeleteMessage: { ReceiptHandle: string };
  ChangeMessageVisibilityBatch: { Entries: Visibility[] };
};

const operations: { [Name in keyof Inputs]: (queue: MemoryQueue, input: Inputs[Name]) => object } = {
  SendMessage: (queue, message) => send(queue, [message])[0] as object,
  SendMessageBatch: (queue, { Entries }) => {
    const sent = send(queue, Entries);
    return { Successful: sent.map((one, at) => ({ ...one, Id: Entries[at]?.Id })), Failed: [] };
  },
  ReceiveMessage: (queue, { MaxNumberOfMessages = 1, VisibilityTimeout }) => ({
    Messages: receiveMessages(queue, MaxNumberOfMessages, VisibilityTimeout).map((message) => ({
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
  DeleteMessage: (queue, { ReceiptHandle }) => {
    deleteMessage(queue, ReceiptHandle);
    return {};
  },
  ChangeMessageVisibilityBatch: (queue, { Entries }) => {
    for (const { ReceiptHandle, VisibilityTimeout } of Entries)
      changeVisibility(queue, ReceiptHandle, VisibilityTimeout);
    return { Successful: Entries.map(({ Id }) => ({ Id })), Failed: [] };
  },
};

const isSupported = (name: string): name is keyof Inputs => Object.hasOwn(operations, name);

function operate<Name extends keyof Inputs>(name: Name, queue: MemoryQueue, input: Inputs[Name]): object {
  return operations[name](queue, input);
}

function send(queue: MemoryQueue, messages: readonly NewMessage[]): { MessageId: string; MD5OfMessageBody: string }[] {
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
