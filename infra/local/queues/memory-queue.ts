import { randomUUID } from 'node:crypto';
import { longestDelaySeconds } from '../../../lib/sqs/queue.ts';
import { type RecordBatch, recordBatchesOfCall } from './record-batches.ts';

/** A queue of SQS in the memory of this process. The functions of this file work on it. */
export type MemoryQueue = {
  /** How long a received message stays hidden, unless its receiver asks for another time. */
  readonly visibilitySeconds: number;
  /** Where a message goes once it has been received `maxReceiveCount` times and is still not deleted. */
  readonly deadLetters: { queue: MemoryQueue; maxReceiveCount: number } | undefined;
  /** Whether its messages hold back the stream position; see `first-attempts.ts`. */
  readonly holdsPosition: boolean;
  readonly time: QueueTime;
  /** The messages whose delay has not ended. */
  readonly delayed: Set<StoredMessage>;
  /** The messages that can be received, oldest first. */
  readonly visible: Set<StoredMessage>;
  /** The received messages that are hidden, by receipt handle. */
  readonly received: Map<string, StoredMessage>;
  /** Called when messages can be received that could not be before. */
  readonly listeners: Set<() => void>;
};

/** The time that a queue goes by. */
export type QueueTime = {
  /** Milliseconds since 1970. */
  now: () => number;
  /** Calls back once after so many milliseconds, unless the returned function is called before. */
  after: (milliseconds: number, run: () => void) => () => void;
};

/** A message as a receiver gets it. Times are milliseconds since 1970. */
export type ReceivedMessage = {
  id: string;
  receiptHandle: string;
  body: string;
  sentAt: number;
  firstReceivedAt: number;
  receiveCount: number;
  /** The batches of stream records that it belongs to. */
  recordBatches: readonly RecordBatch[];
};

type StoredMessage = Pick<ReceivedMessage, 'id' | 'body' | 'sentAt' | 'receiveCount' | 'recordBatches'> & {
  firstReceivedAt: number | undefined;
  /** Cancels the end of its visibility timeout. */
  cancelTimeout: () => void;
};

/** The time of this process. A hidden message does not keep the process running. */
const processTime: QueueTime = {
  now: () => Date.now(),
  after: (milliseconds, run) => {
    const timeout = setTimeout(run, milliseconds).unref();
    return () => clearTimeout(timeout);
  },
};

/** Creates an empty queue. Without `deadLetters` a message can be received any number of times. */
export function createMemoryQueue({
  visibilitySeconds,
  deadLetters,
  holdsPosition = false,
  time = processTime,
}: Pick<MemoryQueue, 'visibilitySeconds'> &
  Partial<Pick<MemoryQueue, 'deadLetters' | 'holdsPosition' | 'time'>>): MemoryQueue {
  return {
    visibilitySeconds,
    deadLetters,
    holdsPosition,
    time,
    delayed: new Set(),
    visible: new Set(),
    received: new Map(),
    listeners: new Set(),
  };
}

/**
 * Sends messages, each with a delay in whole seconds from 0 to 900. Those sent together with one delay
 * become visible together.
 *
 * @returns their ids
 * @throws `Error` for another delay; nothing is sent then
 */
export function sendMessages(
  queue: MemoryQueue,
  messages: readonly { body: string; delaySeconds: number }[],
): string[] {
  for (const { delaySeconds } of messages)
    if (!Number.isInteger(delaySeconds) || delaySeconds < 0 || delaySeconds > longestDelaySeconds)
      throw new Error(`A message cannot wait ${delaySeconds} s; SQS takes 0 to ${longestDelaySeconds}.`);
  const recordBatches = queue.holdsPosition ? recordBatchesOfCall() : [];
  const sent = messages.map(({ body, delaySeconds }) => {
    for (const batch of recordBatches) batch.messages += 1;
    const message: StoredMessage = {
      id: randomUUID(),
      body,
      sentAt: queue.time.now(),
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
      queue.time.after(delaySeconds * 1000, showGroup);
    } else showGroup();
  }
  return sent.map(({ message }) => message.id);
}

/** Receives the oldest visible messages, at most `most`, and hides them for the queue's time or another one. */
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
    message.firstReceivedAt ??= queue.time.now();
    const receiptHandle = `${message.id}/${message.receiveCount}`;
    hide(queue, message, receiptHandle, visibilitySeconds);
    const { id, body, sentAt, firstReceivedAt, receiveCount, recordBatches } = message;
    messages.push({ id, receiptHandle, body, sentAt, firstReceivedAt, receiveCount, recordBatches });
  }
  return messages;
}

/** Deletes a received message. A handle whose visibility timeout has ended deletes nothing: the message is received again. */
export function deleteMessage(queue: MemoryQueue, receiptHandle: string): void {
  const message = takeReceived(queue, receiptHandle);
  if (message) release(message);
}

/** Hides a received message for so many seconds from now; at 0 it is visible at once. */
export function changeVisibility(queue: MemoryQueue, receiptHandle: string, visibilitySeconds: number): void {
  const message = takeReceived(queue, receiptHandle);
  if (!message) return;
  if (visibilitySeconds > 0) hide(queue, message, receiptHandle, visibilitySeconds);
  else reappear(queue, message);
}

/**
 * Calls a function whenever messages become visible.
 *
 * @returns what ends that
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
  message.cancelTimeout = queue.time.after(seconds * 1000, () => {
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

/** Shows a message again that was received and not deleted, or moves it to the dead letters. */
function reappear(queue: MemoryQueue, message: StoredMessage): void {
  const { deadLetters } = queue;
  if (deadLetters && message.receiveCount >= deadLetters.maxReceiveCount) {
    // An operator decides about it from here on. If it held the position until then, the stream would grow meanwhile.
    release(message);
    show(deadLetters.queue, [{ ...message, receiveCount: 0, recordBatches: [] }]);
  } else show(queue, [message]);
}

/** Ends what a message holds back. */
function release(message: StoredMessage): void {
  for (const batch of message.recordBatches) batch.messages -= 1;
}
