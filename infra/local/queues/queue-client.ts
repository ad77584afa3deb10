import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { type QueueName, queues as rows } from '../../../lib/names/queues.ts';
import { changeVisibility, deleteMessage, enqueueMessages, type MemoryQueue, receiveMessages } from './memory-queue.ts';
import type { Queues } from './queues.ts';

/** The part of a client of SQS that the commands of operators use, and the URL of each queue. */
export type QueueClient = { sqs: Pick<SQSClient, 'send'>; urls: Record<QueueName, string> };

/**
 * Creates a client of the queues of this process for the commands of operators, which use the client of SQS in AWS. It
 * supports the commands of the SDK that they send. A receive never waits, because it sees all messages at once.
 */
export function createQueueClient(queues: Queues): QueueClient {
  const send = async (command: { input: { QueueUrl?: string } }) => {
    const operate = operations.get(command.constructor);
    if (!operate) throw new Error(`The local queues do not support ${command.constructor.name}.`);
    const queue = queues[command.input.QueueUrl as QueueName];
    if (!queue) throw new Error(`The queue ${command.input.QueueUrl} does not exist.`);
    return { $metadata: {}, ...operate(queue, command.input) };
  };
  const names = Object.keys(rows) as QueueName[];
  const urls = Object.fromEntries(names.map((name) => [name, name])) as QueueClient['urls'];
  return { sqs: { send: send as SQSClient['send'] }, urls };
}

/** Does the work of a command on a queue. The types of the SDK have checked the input of the caller. */
type Operate = (queue: MemoryQueue, input: object) => object;

type NewMessage = { MessageBody: string; DelaySeconds?: number };
type Visibility = { ReceiptHandle: string; VisibilityTimeout: number };

const operation = <Input>(command: unknown, operate: (queue: MemoryQueue, input: Input) => object) =>
  [command, operate as Operate] as const;

const operations = new Map<unknown, Operate>([
  operation(SendMessageCommand, (queue, message: NewMessage) => send(queue, [message])),
  operation(SendMessageBatchCommand, (queue, { Entries }: { Entries: NewMessage[] }) => send(queue, Entries)),
  operation(
    ReceiveMessageCommand,
    (
      queue,
      { MaxNumberOfMessages = 1, VisibilityTimeout }: { MaxNumberOfMessages?: number; VisibilityTimeout?: number },
    ) => ({
      Messages: receiveMessages(queue, MaxNumberOfMessages, VisibilityTimeout).map((message) => ({
        MessageId: message.id,
        ReceiptHandle: message.receiptHandle,
        Body: message.body,
        Attributes: { SentTimestamp: String(message.sentAt) },
      })),
    }),
  ),
  operation(GetQueueAttributesCommand, ({ visible, received, delayed }) => ({
    Attributes: {
      ApproximateNumberOfMessages: String(visible.size),
      ApproximateNumberOfMessagesNotVisible: String(received.size),
      ApproximateNumberOfMessagesDelayed: String(delayed.size),
    },
  })),
  operation(DeleteMessageCommand, (queue, { ReceiptHandle }: { ReceiptHandle: string }) => {
    deleteMessage(queue, ReceiptHandle);
    return {};
  }),
  operation(ChangeMessageVisibilityBatchCommand, (queue, { Entries }: { Entries: Visibility[] }) => {
    for (const { ReceiptHandle, VisibilityTimeout } of Entries)
      changeVisibility(queue, ReceiptHandle, VisibilityTimeout);
    return {};
  }),
]);

function send(queue: MemoryQueue, messages: readonly NewMessage[]): object {
  const bodies = messages.map(({ MessageBody, DelaySeconds = 0 }) => ({
    body: MessageBody,
    delaySeconds: DelaySeconds,
  }));
  enqueueMessages(queue, bodies);
  return {};
}
