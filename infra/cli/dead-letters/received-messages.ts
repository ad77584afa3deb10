import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageCommand,
  type Message,
  ReceiveMessageCommand,
} from '@aws-sdk/client-sqs';
import type { QueueClient } from '../../local/queues/queue-client.ts';
import type { Report } from '../progress.ts';

/** The largest batch of messages of SQS. */
const batchLimit = 10;

/** A received message, which is hidden from other receivers. `sentAt` is in milliseconds since 1970. */
export type ReceivedDeadLetter = { id: string; handle: string; body: string; sentAt: number };

/** Deletes a received message. */
export type Delete = (message: ReceivedDeadLetter) => Promise<void>;

/**
 * Receives all messages of a queue, oldest first, and calls a function with them. Afterwards makes the messages visible
 * again that the function did not delete, even if the function or a report throws.
 *
 * @param options.visibilitySeconds the visibility timeout of the messages, after which they are visible again if this
 *   process is killed
 * @param options.report reports the number of received messages
 */
export async function withReceivedMessages<Result>(
  client: QueueClient['sqs'],
  QueueUrl: string,
  { visibilitySeconds, report = () => {} }: { visibilitySeconds: number; report?: Report },
  work: (messages: readonly ReceivedDeadLetter[], deleteMessage: Delete) => Promise<Result>,
): Promise<Result> {
  const remaining = new Map<string, ReceivedDeadLetter>();
  try {
    await receiveAll(client, QueueUrl, visibilitySeconds, remaining, report);
    const received = [...remaining.values()].sort((a, b) => a.sentAt - b.sentAt);
    return await work(received, async ({ id, handle }) => {
      await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: handle }));
      remaining.delete(id);
    });
  } finally {
    await makeVisible(client, QueueUrl, [...remaining.values()]);
  }
}

/** Adds all messages of a queue to `received`, by their ids. */
async function receiveAll(
  client: QueueClient['sqs'],
  QueueUrl: string,
  visibilitySeconds: number,
  received: Map<string, ReceivedDeadLetter>,
  report: Report,
): Promise<void> {
  for (;;) {
    const before = received.size;
    const { Messages = [] } = await client.send(
      new ReceiveMessageCommand({
        QueueUrl,
        MaxNumberOfMessages: batchLimit,
        VisibilityTimeout: visibilitySeconds,
        // Long polling: a short poll asks only some of the servers of the queue and may miss messages.
        WaitTimeSeconds: 1,
        MessageSystemAttributeNames: ['SentTimestamp'],
      }),
    );
    for (const message of Messages) received.set(message.MessageId ?? '', receivedMessage(message));
    // No new message: all are received, or the first ones are visible again in a long queue.
    if (received.size === before) return;
    report(`${received.size} messages received`);
  }
}

function receivedMessage({ MessageId = '', ReceiptHandle = '', Body = '', Attributes }: Message): ReceivedDeadLetter {
  return { id: MessageId, handle: ReceiptHandle, body: Body, sentAt: Number(Attributes?.SentTimestamp) };
}

async function makeVisible(
  client: QueueClient['sqs'],
  QueueUrl: string,
  messages: readonly ReceivedDeadLetter[],
): Promise<void> {
  for (let at = 0; at < messages.length; at += batchLimit)
    await client.send(
      new ChangeMessageVisibilityBatchCommand({
        QueueUrl,
        Entries: messages.slice(at, at + batchLimit).map(({ handle }, nth) => ({
          Id: String(nth),
          ReceiptHandle: handle,
          VisibilityTimeout: 0,
        })),
      }),
    );
}
