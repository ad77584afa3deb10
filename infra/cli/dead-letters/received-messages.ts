import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageCommand,
  type Message,
  ReceiveMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import type { Tell } from '../progress.ts';

/** SQS hands out no more messages at once. */
const batchLimit = 10;

/** A message that is held: hidden from others, for nobody else to handle it at the same moment. */
export type Held = { id: string; handle: string; body: string; sentAt: number };

/** Deletes a message that was handled. */
export type Finish = (message: Held) => Promise<void>;

/**
 * Takes all messages of a queue in hand, oldest first, for as long as somebody works on them. What is not finished by
 * then goes back to the queue as it was, whatever has happened.
 *
 * @param heldSeconds after which they come back by themselves, should this process end
 * @param tell how many it has in hand, whenever there are more
 */
export async function withHeld<Result>(
  client: SQSClient,
  QueueUrl: string,
  { heldSeconds, tell = () => {} }: { heldSeconds: number; tell?: Tell },
  work: (messages: readonly Held[], finish: Finish) => Promise<Result>,
): Promise<Result> {
  const held = await hold(client, QueueUrl, heldSeconds, tell);
  const left = new Set(held);
  try {
    return await work(held, async (message) => {
      await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: message.handle }));
      left.delete(message);
    });
  } finally {
    await release(client, QueueUrl, [...left]);
  }
}

async function hold(client: SQSClient, QueueUrl: string, heldSeconds: number, tell: Tell): Promise<Held[]> {
  const held = new Map<string, Held>();
  for (;;) {
    const before = held.size;
    const { Messages = [] } = await client.send(
      new ReceiveMessageCommand({
        QueueUrl,
        MaxNumberOfMessages: batchLimit,
        VisibilityTimeout: heldSeconds,
        // A short poll asks some of the queue's servers and may find nothing; a long one asks them all.
        WaitTimeSeconds: 1,
        MessageSystemAttributeNames: ['SentTimestamp'],
      }),
    );
    for (const message of Messages) held.set(message.MessageId ?? '', heldFrom(message));
    // Nothing new: that was all, or they are so many that the first have come back meanwhile.
    if (held.size === before) return [...held.values()].sort((a, b) => a.sentAt - b.sentAt);
    tell(`${held.size} messages in hand`);
  }
}

function heldFrom({ MessageId = '', ReceiptHandle = '', Body = '', Attributes }: Message): Held {
  return { id: MessageId, handle: ReceiptHandle, body: Body, sentAt: Number(Attributes?.SentTimestamp) };
}

async function release(client: SQSClient, QueueUrl: string, messages: readonly Held[]): Promise<void> {
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
