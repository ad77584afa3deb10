import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { contextOf, type Handler } from '../functions.ts';
import { deleteMessage, type MemoryQueue, onVisible, type ReceivedMessage, receiveMessages } from './memory-queue.ts';
import { oldestBatches, runForBatches } from './record-batches.ts';

/** An event source mapping of a queue: the queue, the handler, the settings of the consumer. */
export type QueueMapping = {
  name: string;
  queue: MemoryQueue;
  handler: Handler;
  batchSize: number;
  concurrency: number;
  timeoutSeconds: number;
};

/** Stops a poller. Waits until its current calls have ended, up to a limit. */
export type Stop = () => Promise<void>;

/** Waits for a time, or until the signal aborts. Does not keep the process running. */
export type Wait = (milliseconds: number, signal?: AbortSignal) => Promise<void>;

/** Waits by the time of this process. */
export const waited: Wait = (milliseconds, signal) =>
  pause(milliseconds, undefined, { ref: false, ...(signal && { signal }) }).catch(() => {});

/** How long an event source that stops waits for its current calls. */
export const stopWithinMs = 12_000;

/**
 * Does the work of Lambda's event source mapping for a queue: gives visible messages to the handler at once, in batches
 * and in concurrent calls.
 *
 * @param wait waits for current calls when the poller stops
 * @returns a function that stops polling
 */
export function pollQueue(mapping: QueueMapping, wait: Wait = waited): Stop {
  const { queue, batchSize, concurrency } = mapping;
  const calls = new Set<Promise<void>>();
  // The handler must not run in the asynchronous context of the function that sent the message.
  const inOwnContext = AsyncLocalStorage.snapshot();
  let stopping = false;
  let receivePlanned = false;

  // Messages that are sent in the same turn of the event loop go into the same batches.
  const stopListening = onVisible(queue, () => {
    if (receivePlanned) return;
    receivePlanned = true;
    setImmediate(() => {
      receivePlanned = false;
      inOwnContext(receive);
    });
  });
  receive();

  function receive(): void {
    while (!stopping && calls.size < concurrency) {
      const messages = receiveMessages(queue, batchSize);
      if (messages.length === 0) return;
      // A failed call has logged its error. Its messages become visible again.
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
    // Every attempt ends within this time. An execution may take minutes; the next start of the service resumes it.
    await Promise.race([Promise.all(calls), wait(stopWithinMs)]);
  };
}

/** Gives messages to the handler, and deletes the messages that it handled. */
async function handle({ name, queue, handler, timeoutSeconds }: QueueMapping, messages: ReceivedMessage[]) {
  const event: SQSEvent = { Records: messages.map(recordOf) };
  const call = () => handler(event, contextOf(name, timeoutSeconds));
  const recordBatches = oldestBatches(messages.flatMap((message) => message.recordBatches));
  const result = (await runForBatches(recordBatches, call)) as SQSBatchResponse;
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
    // The functions do not read it: nothing can change a body in the memory of this process.
    md5OfBody: '',
    eventSource: 'aws:sqs',
    eventSourceARN: 'arn:aws:sqs:local:000000000000:local',
    awsRegion: 'local',
  };
}
