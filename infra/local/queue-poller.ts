import { setTimeout as pause } from 'node:timers/promises';
import { type Message, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { clientConfig } from '../../lib/contract/deployment.ts';
import { openDeletions } from './deletions.ts';
import { contextOf, type Handler } from './functions.ts';

/** What is polled for whom: a consumer's row, its queue and its handler. */
export type QueueMapping = {
  name: string;
  endpoint: string;
  url: string;
  handler: Handler;
  batchSize: number;
  concurrency: number;
  timeoutSeconds: number;
};

/** Stops what polls, once the calls under way have ended, or have been given the time to. */
export type Stop = () => Promise<void>;

/** Waits these milliseconds, without keeping the process alive for it. */
export type Wait = (milliseconds: number) => Promise<void>;

const waited: Wait = (milliseconds) => pause(milliseconds, undefined, { ref: false });

/**
 * Lambda's part for a queue: as many receivers as may run at once, each giving its batch to the handler.
 *
 * @param wait how long calls that are under way are waited for when it stops
 */
export function pollQueue(mapping: QueueMapping, wait: Wait = waited): Stop {
  const client = new SQSClient({ ...clientConfig(mapping.endpoint), cacheMiddleware: true });
  const stopping = new AbortController();
  const receiver = receive(client, mapping, stopping.signal, wait);
  return async () => {
    stopping.abort();
    await receiver;
    client.destroy();
  };
}

/** How long a call that is under way may take when the service stops. */
const leaveAfterMs = 12_000;

async function receive(client: SQSClient, mapping: QueueMapping, stopping: AbortSignal, wait: Wait): Promise<void> {
  const { url: QueueUrl, batchSize: MaxNumberOfMessages } = mapping;
  const calls = new Set<Promise<void>>();
  const deletions = openDeletions(client, QueueUrl);
  let goOn = () => {};
  stopping.addEventListener('abort', () => goOn(), { once: true });
  while (!stopping.aborted) {
    try {
      const request = new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages, WaitTimeSeconds: 20 });
      const { Messages = [] } = await client.send(request, { abortSignal: stopping });
      if (Messages.length === 0) continue;
      // A call that fails has logged why; what it was given becomes visible again.
      const call = handle(mapping, Messages)
        .then((done) => done.forEach(deletions.add))
        .catch(() => {})
        .finally(() => {
          calls.delete(call);
          goOn();
        });
      calls.add(call);
      // Until one of them ends or the service stops, which a call that takes minutes must not hold up.
      if (calls.size >= mapping.concurrency && !stopping.aborted)
        await new Promise<void>((resolve) => {
          goOn = resolve;
        });
    } catch {
      // Stopping, or a fault of the queue.
      await pause(200, undefined, { signal: stopping }).catch(() => {});
    }
  }
  // An attempt is over by then. An execution may take minutes: it is left, and taken up again by the next start.
  await Promise.race([Promise.all(calls), wait(leaveAfterMs)]);
  await deletions.finish();
}

/** Gives messages to the handler, and answers the handles of those that it is done with. */
async function handle(mapping: QueueMapping, messages: Message[]): Promise<string[]> {
  const event: SQSEvent = { Records: messages.map(recordOf) };
  const context = contextOf(mapping.name, mapping.timeoutSeconds);
  const result = (await mapping.handler(event, context)) as SQSBatchResponse;
  const failed = new Set(result.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
  const done = messages.filter(({ MessageId }) => !failed.has(MessageId as string));
  return done.map(({ ReceiptHandle }) => ReceiptHandle as string);
}

function recordOf({ MessageId = '', ReceiptHandle = '', Body = '', MD5OfBody = '' }: Message): SQSRecord {
  return {
    messageId: MessageId,
    receiptHandle: ReceiptHandle,
    body: Body,
    attributes: {
      ApproximateReceiveCount: '1',
      SentTimestamp: '0',
      SenderId: 'local',
      ApproximateFirstReceiveTimestamp: '0',
    },
    messageAttributes: {},
    md5OfBody: MD5OfBody,
    eventSource: 'aws:sqs',
    eventSourceARN: 'arn:aws:sqs:local:000000000000:local',
    awsRegion: 'local',
  };
}
