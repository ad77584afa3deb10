import { SendMessageBatchCommand, type SendMessageBatchRequestEntry, type SQSClient } from '@aws-sdk/client-sqs';
import { inBatches } from '../batching/in-batches.ts';

/** A message and how long it waits before anybody receives it, in whole seconds from 0 to 900. */
export type Waiting<Message> = { message: Message; delaySeconds: number };

/** A queue that is sent to. */
export type Queue<Message> = { send: (messages: readonly Waiting<Message>[]) => Promise<void> };

/** The longest delay of a message, in seconds (SQS API reference, `SendMessage`). */
export const longestDelaySeconds = 900;

/** SQS takes no more messages at once. */
const batchLimit = 10;
const tries = 3;

/**
 * The delay of a message that is to be received at a moment, both in milliseconds since 1970: rounded up, so that it is
 * met when that has come and not before, and no longer than SQS takes; what is met early is sent on from there.
 */
export function secondsUntil(at: number, now: number): number {
  return Math.min(longestDelaySeconds, Math.max(0, Math.ceil((at - now) / 1000)));
}

/**
 * Opens a queue for sending. `send` returns once SQS has every message; an entry that fails alone is sent again. What is
 * sent in one turn of the event loop goes together.
 *
 * @throws what SQS says when it takes a message not even then; the caller's source retries
 */
export function openQueue<Message>(client: SQSClient, url: string): Queue<Message> {
  const send = inBatches(batchLimit, async (entries: Entry[]): Promise<undefined[]> => {
    await sendBatch(
      client,
      url,
      entries.map((entry, at) => ({ ...entry, Id: String(at) })),
    );
    return [];
  });
  return {
    send: async (messages) => void (await Promise.all(messages.map(entryOf).map(send))),
  };
}

/** An entry of a batch, but for its id in it. */
type Entry = Omit<SendMessageBatchRequestEntry, 'Id'>;

/**
 * Returns the message group of a message, which is its organization; `undefined` for a dead letter, which may have none.
 * SQS fair queues share a standard queue between groups: when one has most of the messages that are being processed,
 * those of the others are received first (SQS Developer Guide, "Amazon SQS fair queues"). Messages of one group are not
 * ordered by it. An organization's name is always a valid group: at most 128 letters, digits and punctuation.
 */
export function messageGroupOf(message: unknown): string | undefined {
  return (message as { organization?: string }).organization;
}

function entryOf<Message>({ message, delaySeconds }: Waiting<Message>): Entry {
  // Checked here because the local engine takes any number.
  if (!Number.isInteger(delaySeconds) || delaySeconds < 0 || delaySeconds > longestDelaySeconds)
    throw new Error(`A message cannot wait ${delaySeconds} s; SQS takes 0 to ${longestDelaySeconds}.`);
  const group = messageGroupOf(message);
  return {
    MessageBody: JSON.stringify(message),
    DelaySeconds: delaySeconds,
    ...(group && { MessageGroupId: group }),
  };
}

async function sendBatch(client: SQSClient, url: string, entries: SendMessageBatchRequestEntry[]): Promise<void> {
  let left = entries;
  for (let attempt = 1; ; attempt++) {
    const { Failed = [] } = await client.send(new SendMessageBatchCommand({ QueueUrl: url, Entries: left }));
    if (Failed.length === 0) return;
    if (attempt === tries || Failed.some((failure) => failure.SenderFault))
      throw new Error(`SQS did not take a message: ${Failed[0]?.Code} ${Failed[0]?.Message ?? ''}`);
    left = left.filter((entry) => Failed.some((failure) => failure.Id === entry.Id));
  }
}
