import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { contextOf, type Handler } from '../functions.ts';
import { deleteMessage, type MemoryQueue, onVisible, type ReceivedMessage, receiveMessages } from './memory-queue.ts';
import { sendingFor } from './record-batches.ts';

/** What is polled for whom: a consumer's row, its queue and its handler. */
export type QueueMapping = {
  name: string;
  queue: MemoryQueue;
  handler: Handler;
  batchSize: number;
  concurrency: number;
  timeoutSeconds: number;
};

/** Stops what polls, once the calls under way have ended, or have been given the time to. */
export type Stop = () => Promise<void>;

/** Waits these milliseconds, no longer than until the signal aborts, and does not keep the process running. */
export type Wait = (milliseconds: number, signal?: AbortSignal) => Promise<void>;

/** Waits by the time of this process. */
export const waited: Wait = (milliseconds, signal) =>
  pause(milliseconds, undefined, { ref: false, ...(signal && { signal }) }).catch(() => {});

/** How long a call that is under way may take when the service stops. */
const leaveAfterMs = 12_000;

/**
 * Lambda's part for a queue: gives what is visible to the handler at once, in batches, in as many calls at the same time
 * as may run.
 *
 * @param wait how long calls that are under way are waited for when it stops
 */
export function pollQueue(mapping: QueueMapping, wait: Wait = waited): Stop {
  const { queue, batchSize, concurrency } = mapping;
  const calls = new Set<Promise<void>>();
  // What calls the handler must not see the asynchronous context of what sent the message.
  const inOwnContext = AsyncLocalStorage.snapshot();
  let stopping = false;
  let woken = false;

  // Messages that are sent in the same turn of the event loop go into the same batches.
  const stopListening = onVisible(queue, () => {
    if (woken) return;
    woken = true;
    setImmediate(() => {
      woken = false;
      inOwnContext(receive);
    });
  });
  receive();

  function receive(): void {
    while (!stopping && calls.size < concurrency) {
      const messages = receiveMessages(queue, batchSize);
      if (messages.length === 0) return;
      // A call that fails has logged why; its messages become visible again.
      const call = handle(mapping, messages)
        .catch(() => {})
        .finally(() => {
          calls.delete(call);
          receive();
        });
      calls.add(call);
    }
  }

  return async () => {
    stopping = true;
    stopListening();
    // An attempt is over by then. An execution may take minutes: it is left, and taken up again by the next start.
    await Promise.race([Promise.all(calls), wait(leaveAfterMs)]);
  };
}

/** Gives messages to the handler, and deletes those that it is done with. */
async function handle({ name, queue, handler, timeoutSeconds }: QueueMapping, messages: ReceivedMessage[]) {
  const event: SQSEvent = { Records: messages.map(recordOf) };
  const call = () => handler(event, contextOf(name, timeoutSeconds));
  const recordBatches = new Set(messages.flatMap((message) => message.recordBatches));
  const result = (await sendingFor([...recordBatches], call)) as SQSBatchResponse;
  const failed = new Set(result.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
  for (const { id, receiptHandle } of messages) if (!failed.has(id)) deleteMessage(queue, receiptHandle);
}

function recordOf({ id, receiptHandle, body, sentAt, firstReceivedAt, receiveCount }: ReceivedMessage): SQSRecord {
  return {
    messageId: id,
    receiptHandle,
    body,
    attributes: {
      ApproximateReceiveCount: String(receiveCount),
      SentTimestamp: String(sentAt),
      SenderId: 'local',
      ApproximateFirstReceiveTimestamp: String(firstReceivedAt),
    },
    messageAttributes: {},
    md5OfBody: createHash('md5').update(body).digest('hex'),
    eventSource: 'aws:sqs',
    eventSourceARN: 'arn:aws:sqs:local:000000000000:local',
    awsRegion: 'local',
  };
}
