import { randomUUID } from 'node:crypto';
import { longestDelaySeconds } from '../../../lib/names/queues.ts';
import { currentRecordBatches, type RecordBatch } from './record-batches.ts';

/** A queue in the memory of this process that behaves like a standard queue of SQS. */
export type MemoryQueue = {
  /** The default visibility timeout: how long a received message stays hidden. */
  readonly visibilitySeconds: number;
  /** The dead-letter queue, to which a message moves that was received `maxReceiveCount` times and not deleted. */
  readonly deadLetters: { queue: MemoryQueue; maxReceiveCount: number } | undefined;
  /** Whether the stored stream position stays behind its messages; see `record-batches.ts`. */
  readonly holdsPosition: boolean;
  /** The messages whose delay has not ended. */
  readonly delayed: Set<StoredMessage>;
  /** The messages that can be received, oldest first. */
  readonly visible: Set<StoredMessage>;
  /** The received messages that are hidden, by receipt handle. */
  readonly received: Map<string, StoredMessage>;
  /** Called when messages become visible. */
  readonly listeners: Set<() => void>;
};

/** A received message. Times are milliseconds since 1970. */
export type ReceivedMessage = {
  id: string;
  receiptHandle: string;
  body: string;
  sentAt: number;
  firstReceivedAt: number;
  receiveCount: number;
  /** The batches of stream records to which it belongs: at most one of each shard. */
  recordBatches: readonly RecordBatch[];
};

type StoredMessage = Pick<ReceivedMessage, 'id' | 'body' | 'sentAt' | 'receiveCount' | 'recordBatches'> & {
  firstReceivedAt: number | undefined;
  /** Cancels the end of its visibility timeout. */
  cancelTimeout: () => void;
};

/** Calls a function once after a time, if the process still runs; the returned function cancels the call. */
function after(milliseconds: number, run: () => void): () => void {
  const timeout = setTimeout(run, milliseconds).unref();
  return () => clearTimeout(timeout);
}

/** Creates an empty queue. Without `deadLetters` a message can be received any number of times. */
export function createMemoryQueue({
  visibilitySeconds,
  deadLetters,
  holdsPosition = false,
}: Pick<MemoryQueue, 'visibilitySeconds'> & Partial<Pick<MemoryQueue, 'deadLetters' | 'holdsPosition'>>): MemoryQueue {
  return {
    visibilitySeconds,
    deadLetters,
    holdsPosition,
    delayed: new Set(),
    visible: new Set(),
    received: new Map(),
    listeners: new Set(),
  };
}

/**
 * Sends messages, each with a delay in whole seconds from 0 to 900. Messages with the same delay become visible together.
 *
 * @returns the ids of the messages
 * @throws `Error` for an invalid delay; no message is sent then
 */
export function enqueueMessages(
  queue: MemoryQueue,
  messages: readonly { body: string; delaySeconds: number }[],
): string[] {
  for (const { delaySeconds } of messages)
    if (!Number.isInteger(delaySeconds) || delaySeconds < 0 || delaySeconds > longestDelaySeconds)
      throw new Error(
        `The delay of ${delaySeconds} s is invalid; use a whole number from 0 to ${longestDelaySeconds}.`,
      );
  const recordBatches = queue.holdsPosition ? currentRecordBatches() : [];
  const sent = messages.map(({ body, delaySeconds }) => {
    for (const batch of recordBatches) batch.messages += 1;
    const message: StoredMessage = {
      id: randomUUID(),
      body,
      sentAt: Date.now(),
      receiveCount: 0,
      firstReceivedAt: undefined,
      recordBatches,
      cancelTimeout: () => {},
    };
    return { message, delaySeconds };
  });
  for (const [delaySeconds, group] of Map.groupBy(sent, (one) => one.delaySeconds)) {
    const messages = group.map(({ message }) => message);
    const showGroup = () => {
      for (const message of messages) queue.delayed.delete(message);
      show(queue, messages);
    };
    if (delaySeconds > 0) {
      for (const message of messages) queue.delayed.add(message);
      after(delaySeconds * 1000, showGroup);
    } else showGroup();
  }
  return sent.map(({ message }) => message.id);
}

/** Receives the oldest visible messages, at most `most`, and hides them for the visibility timeout. */
export function receiveMessages(
  queue: MemoryQueue,
  most: number,
  visibilitySeconds = queue.visibilitySeconds,
): ReceivedMessage[] {
  const messages: ReceivedMessage[] = [];
  for (const message of queue.visible) {
    if (messages.length >= most) break;
    queue.visible.delete(message);
    message.receiveCount += 1;
    message.firstReceivedAt ??= Date.now();
    const receiptHandle = `${message.id}/${message.receiveCount}`;
    hide(queue, message, receiptHandle, visibilitySeconds);
    const { id, body, sentAt, firstReceivedAt, receiveCount, recordBatches } = message;
    messages.push({ id, receiptHandle, body, sentAt, firstReceivedAt, receiveCount, recordBatches });
  }
  return messages;
}

/** Deletes a received message. Does nothing if its visibility timeout has ended, because the message is received again. */
export function deleteMessage(queue: MemoryQueue, receiptHandle: string): void {
  const message = takeReceived(queue, receiptHandle);
  if (message) releasePosition(message);
}

/** Changes the visibility timeout of a received message, counted from now. With 0 it is visible at once. */
export function changeVisibility(queue: MemoryQueue, receiptHandle: string, visibilitySeconds: number): void {
  const message = takeReceived(queue, receiptHandle);
  if (!message) return;
  if (visibilitySeconds > 0) hide(queue, message, receiptHandle, visibilitySeconds);
  else reappear(queue, message);
}

/**
 * Calls a function whenever messages become visible.
 *
 * @returns a function that removes the listener
 */
export function onVisible(queue: MemoryQueue, listener: () => void): () => void {
  queue.listeners.add(listener);
  return () => void queue.listeners.delete(listener);
}

function show(queue: MemoryQueue, messages: readonly StoredMessage[]): void {
  for (const message of messages) queue.visible.add(message);
  for (const listener of queue.listeners) listener();
}

function hide(queue: MemoryQueue, message: StoredMessage, receiptHandle: string, seconds: number): void {
  queue.received.set(receiptHandle, message);
  message.cancelTimeout = after(seconds * 1000, () => {
    takeReceived(queue, receiptHandle);
    reappear(queue, message);
  });
}

function takeReceived(queue: MemoryQueue, receiptHandle: string): StoredMessage | undefined {
  const message = queue.received.get(receiptHandle);
  message?.cancelTimeout();
  queue.received.delete(receiptHandle);
  return message;
}

/** Makes a received message visible again, or moves it to the dead-letter queue. */
function reappear(queue: MemoryQueue, message: StoredMessage): void {
  const { deadLetters } = queue;
  if (deadLetters && message.receiveCount >= deadLetters.maxReceiveCount) {
    // A dead letter stays until an operator handles it. The stream would grow until then if it still held the position.
    releasePosition(message);
    show(deadLetters.queue, [{ ...message, receiveCount: 0, recordBatches: [] }]);
  } else show(queue, [message]);
}

/** Stops the stored stream position from staying behind a message. */
function releasePosition(message: StoredMessage): void {
  for (const batch of message.recordBatches) batch.messages -= 1;
}
