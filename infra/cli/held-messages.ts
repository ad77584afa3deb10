import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageCommand,
  type Message,
  ReceiveMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import type { Tell } from './progress.ts';

/** SQS hands out no more messages at once. */
const batchLimit = 10;

/** A message that is held: hidden from others, for nobody else to handle it at the same moment. */
export type Held = { id: string; handle: string; body: string; sentAt: number; receives: number };

/**
 * Takes messages of a queue in hand, each once: all that there are, or the first so many.
 *
 * @param heldSeconds after which they come back by themselves, should this process end
 * @param tell how many it has in hand, whenever there are more
 */
export async function hold(
  client: SQSClient,
  url: string,
  {
    heldSeconds,
    atMost = Number.POSITIVE_INFINITY,
    tell = () => {},
  }: { heldSeconds: number; atMost?: number; tell?: Tell },
): Promise<Held[]> {
  const held = new Map<string, Held>();
  while (held.size < atMost) {
    const { Messages = [] } = await client.send(
      new ReceiveMessageCommand({
        QueueUrl: url,
        MaxNumberOfMessages: Math.min(batchLimit, atMost - held.size),
        VisibilityTimeout: heldSeconds,
        // A short poll asks some of the queue's servers and may find nothing; a long one asks them all.
        WaitTimeSeconds: 1,
        MessageSystemAttributeNames: ['SentTimestamp', 'ApproximateReceiveCount'],
      }),
    );
    if (Messages.length === 0) break;
    for (const message of Messages) held.set(message.MessageId ?? '', heldFrom(message));
    tell(`${held.size} messages in hand`);
  }
  return [...held.values()];
}

function heldFrom({ MessageId = '', ReceiptHandle = '', Body = '', Attributes }: Message): Held {
  return {
    id: MessageId,
    handle: ReceiptHandle,
    body: Body,
    sentAt: Number(Attributes?.SentTimestamp),
    receives: Number(Attributes?.ApproximateReceiveCount),
  };
}

/** Gives messages back to their queue, as they were. */
export async function release(client: SQSClient, url: string, messages: readonly Held[]): Promise<void> {
  for (let at = 0; at < messages.length; at += batchLimit)
    await client.send(
      new ChangeMessageVisibilityBatchCommand({
        QueueUrl: url,
        Entries: messages.slice(at, at + batchLimit).map(({ handle }, nth) => ({
          Id: String(nth),
          ReceiptHandle: handle,
          VisibilityTimeout: 0,
        })),
      }),
    );
}

/** Deletes a message that was handled. */
export async function finish(client: SQSClient, url: string, { handle }: Held): Promise<void> {
  await client.send(new DeleteMessageCommand({ QueueUrl: url, ReceiptHandle: handle }));
}
