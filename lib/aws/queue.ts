import { SendMessageBatchCommand, type SendMessageBatchRequestEntry, SQSClient } from '@aws-sdk/client-sqs';
import { environment } from '../names/environment.ts';
import type { AgentOrder, ExecutionMessage, Order, SentDelivery, TaskOrder } from '../names/messages.ts';
import { longestDelaySeconds, type QueueName, queues as rows } from '../names/queues.ts';
import { callLimitConfig, callLimitsOf } from './call-limits.ts';
import { clientConfig } from './client-config.ts';
import { inBatches } from './in-batches.ts';

/** A message and its delay in whole seconds, from 0 to 900. */
export type DelayedMessage<Message = unknown> = { message: Message; delaySeconds: number };

/** Sends messages to one queue. It resolves when the queue has all of them. */
export type QueueSender = (messages: readonly DelayedMessage[]) => Promise<void>;

/** The message of each queue. */
type MessageOf = Record<'slowDeliveries' | 'firstRetry' | 'secondRetry' | 'thirdRetry', SentDelivery> & {
  deliveries: SentDelivery | Order | TaskOrder;
  executions: ExecutionMessage | AgentOrder;
  deadLetters: unknown;
};

/** The part of a context that sending messages needs. */
export type QueueContext = {
  variables: Readonly<Record<string, string | undefined>>;
  /** The senders of queues. A missing one is created for the queue of SQS that the environment names. */
  queues: Map<QueueName, QueueSender>;
  /** The clients of AWS that this process has created. */
  clients: { sqs?: SQSClient };
};

/** The maximum number of messages in a request to SQS. */
const batchLimit = 10;
const tries = 3;

/**
 * Returns the delay of a message that is due at a time, both as Unix time in ms. It is rounded up, so that no
 * message is received early, and at most 900 s: a message that is due later is received early and sent again.
 */
export function secondsUntil(at: number, now: number): number {
  return Math.min(longestDelaySeconds, Math.max(0, Math.ceil((at - now) / 1000)));
}

/**
 * Sends messages to a queue. Calls in one turn of the event loop are batched. Messages of a batch that SQS
 * rejects are sent again.
 *
 * @throws the error of SQS after three tries; the source of the caller retries
 */
export function sendMessages<Name extends QueueName>(
  context: QueueContext,
  queue: Name,
  messages: readonly DelayedMessage<MessageOf[Name]>[],
): Promise<void> {
  const { variables, queues, clients } = context;
  let send = queues.get(queue);
  if (!send) {
    clients.sqs ??= createSqsClient(variables[environment.sqsEndpoint]);
    send = createQueueSender(clients.sqs, variables[rows[queue].urlVariable] ?? '');
    queues.set(queue, send);
  }
  return send(messages);
}

/** Creates the client of SQS; `endpoint` is the endpoint of a local engine. */
export function createSqsClient(endpoint: string | undefined, limits = callLimitsOf('sqs', endpoint)): SQSClient {
  return new SQSClient({ ...clientConfig(endpoint), ...callLimitConfig(limits), cacheMiddleware: true });
}

/** Creates the sender of a queue of SQS. */
export function createQueueSender(client: Pick<SQSClient, 'send'>, url: string): QueueSender {
  const send = inBatches(batchLimit, async (entries: Entry[]): Promise<undefined[]> => {
    await sendBatch(
      client,
      url,
      entries.map((entry, at) => ({ ...entry, Id: String(at) })),
    );
    return [];
  });
  return async (messages) => void (await Promise.all(messages.map(entryOf).map(send)));
}

/** An entry of a batch, without its id. */
type Entry = Omit<SendMessageBatchRequestEntry, 'Id'>;

/**
 * Returns the message group of a message, which is its organization; `undefined` for a dead letter, which may have none.
 * SQS fair queues share a standard queue between groups: when one group has most of the messages that are being processed,
 * the messages of the others are received first (SQS Developer Guide, "Amazon SQS fair queues"). A group has no order. An
 * organization's name is always a valid group: at most 128 letters, digits and punctuation.
 */
export function messageGroupOf(message: unknown): string | undefined {
  return (message as { organization?: string }).organization;
}

function entryOf({ message, delaySeconds }: DelayedMessage): Entry {
  // The local engine accepts any number.
  if (!Number.isInteger(delaySeconds) || delaySeconds < 0 || delaySeconds > longestDelaySeconds)
    throw new Error(`A message cannot wait ${delaySeconds} s; SQS takes 0 to ${longestDelaySeconds}.`);
  const group = messageGroupOf(message);
  return {
    MessageBody: JSON.stringify(message),
    DelaySeconds: delaySeconds,
    ...(group && { MessageGroupId: group }),
  };
}

async function sendBatch(
  client: Pick<SQSClient, 'send'>,
  url: string,
  entries: SendMessageBatchRequestEntry[],
): Promise<void> {
  let remaining = entries;
  for (let attempt = 1; ; attempt++) {
    const { Failed = [] } = await client.send(new SendMessageBatchCommand({ QueueUrl: url, Entries: remaining }));
    if (Failed.length === 0) return;
    if (attempt === tries || Failed.some((failure) => failure.SenderFault))
      throw new Error(`SQS did not take a message: ${Failed[0]?.Code} ${Failed[0]?.Message ?? ''}`);
    remaining = remaining.filter((entry) => Failed.some((failure) => failure.Id === entry.Id));
  }
}
