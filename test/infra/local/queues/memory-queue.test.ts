import { describe, expect, it, vi } from 'vitest';
import {
  changeVisibility,
  createMemoryQueue,
  deleteMessage,
  type MemoryQueue,
  onVisible,
  receiveMessages,
  sendMessages,
} from '../../../../infra/local/queues/memory-queue.ts';
import { type RecordBatch, runForBatches } from '../../../../infra/local/queues/record-batches.ts';
import { createManualTime, type ManualTime } from './queue-time.ts';

/** Creates a queue with a visibility timeout of 30 s and a dead-letter queue after three receives. */
function newQueue() {
  const time = createManualTime();
  const deadLetters = createMemoryQueue({ visibilitySeconds: 5, time });
  const queue = createMemoryQueue({
    visibilitySeconds: 30,
    deadLetters: { queue: deadLetters, maxReceiveCount: 3 },
    time,
  });
  return { queue, deadLetters, time };
}

const send = (queue: MemoryQueue, bodies: Iterable<string>, delaySeconds = 0) =>
  sendMessages(
    queue,
    [...bodies].map((body) => ({ body, delaySeconds })),
  );
const receive = (queue: MemoryQueue, most = 10) => receiveMessages(queue, most);
const bodiesIn = (queue: MemoryQueue) => receive(queue).map(({ body }) => body);

/** Receives one message; throws if none is visible. */
function receiveOne(queue: MemoryQueue) {
  const [message] = receive(queue, 1);
  if (!message) throw new Error('No message is visible.');
  return message;
}

/** Checks that messages are hidden until this time has passed. */
function expectHidden(queue: MemoryQueue, time: ManualTime, seconds: number): void {
  time.pass(seconds - 1);
  expect(bodiesIn(queue)).toEqual([]);
  time.pass(1);
}

describe('a queue in memory', () => {
  it('returns messages in the order in which they were sent, up to the requested number', () => {
    const { queue } = newQueue();
    send(queue, 'abc');
    expect(receive(queue, 2).map(({ body }) => body)).toEqual(['a', 'b']);
    expect([bodiesIn(queue), bodiesIn(queue)]).toEqual([['c'], []]);
  });

  it('returns with a message when it was sent and first received, and how often it was received', () => {
    const { queue, time } = newQueue();
    const sentAt = time.now();
    const [id] = send(queue, 'a');
    time.pass(2);
    const firstReceivedAt = time.now();
    for (const receiveCount of [1, 2]) {
      expect(receiveOne(queue)).toMatchObject({ id, sentAt, firstReceivedAt, receiveCount });
      time.pass(30);
    }
  });

  it('makes a message visible after its delay', () => {
    const { queue, time } = newQueue();
    send(queue, 'a', 900);
    expectHidden(queue, time, 900);
    expect(bodiesIn(queue)).toEqual(['a']);
  });

  it.each([-1, 901, 0.5, Number.NaN])('rejects all messages if one has a delay of %d s', (delaySeconds) => {
    const { queue } = newQueue();
    const messages = [0, delaySeconds].map((delay) => ({ body: 'a', delaySeconds: delay }));
    expect(() => sendMessages(queue, messages)).toThrow('from 0 to 900');
    expect(bodiesIn(queue)).toEqual([]);
  });

  it('makes a received message visible again after its visibility timeout, unless it was deleted', () => {
    const { queue, time } = newQueue();
    send(queue, 'ab');
    deleteMessage(queue, receiveOne(queue).receiptHandle);
    receiveOne(queue);
    expectHidden(queue, time, 30);
    expect(bodiesIn(queue)).toEqual(['b']);
  });

  it('hides a message for the visibility timeout that its receiver sets', () => {
    const { queue, time } = newQueue();
    send(queue, 'a');
    receiveMessages(queue, 1, 100);
    expectHidden(queue, time, 100);
    const { receiptHandle } = receiveOne(queue);
    changeVisibility(queue, receiptHandle, 50);
    time.pass(49);
    expect(bodiesIn(queue)).toEqual([]);
    changeVisibility(queue, receiptHandle, 0);
    expect(bodiesIn(queue)).toEqual(['a']);
  });

  it('does not delete a message by the receipt handle of an earlier receive', () => {
    const { queue, time } = newQueue();
    send(queue, 'a');
    const { receiptHandle } = receiveOne(queue);
    time.pass(30);
    receiveOne(queue);
    deleteMessage(queue, receiptHandle);
    changeVisibility(queue, receiptHandle, 0);
    expectHidden(queue, time, 30);
    expect(bodiesIn(queue)).toEqual(['a']);
  });

  it('moves a message to the dead-letter queue after the last receive, where it remains', () => {
    const { queue, deadLetters, time } = newQueue();
    const sentAt = time.now();
    const [id] = send(queue, 'a');
    for (let receives = 1; receives <= 3; receives++) {
      expect(bodiesIn(deadLetters)).toEqual([]);
      receiveOne(queue);
      time.pass(30);
    }
    expect(bodiesIn(queue)).toEqual([]);
    for (let receiveCount = 1; receiveCount <= 10; receiveCount++) {
      expect(receiveOne(deadLetters)).toMatchObject({ id, body: 'a', sentAt, receiveCount });
      time.pass(5);
    }
  });

  it('calls its listener once for messages that are sent together, and whenever messages become visible later', () => {
    const { queue, time } = newQueue();
    const listener = vi.fn();
    const end = onVisible(queue, listener);
    send(queue, 'abc');
    send(queue, 'd', 10);
    expect(listener).toHaveBeenCalledTimes(1);
    time.pass(10);
    expect(listener).toHaveBeenCalledTimes(2);
    receive(queue, 1);
    time.pass(30);
    end();
    send(queue, 'e');
    expect(listener).toHaveBeenCalledTimes(3);
  });
});

describe('a message of a queue that holds the stream position', () => {
  /** Creates a batch of records, and queues of first attempts with a dead-letter queue after one receive. */
  function newAttempts() {
    const time = createManualTime();
    const deadLetters = { queue: createMemoryQueue({ visibilitySeconds: 5, time }), maxReceiveCount: 1 };
    const create = () => createMemoryQueue({ visibilitySeconds: 30, deadLetters, holdsPosition: true, time });
    const batch: RecordBatch = { messages: 0 };
    return { time, batch, queue: create(), slowQueue: create(), deadLetters: deadLetters.queue };
  }

  it('counts for its batch until it is deleted, whether it is delayed, visible or received', () => {
    const { time, batch, queue } = newAttempts();
    runForBatches([batch], () => [send(queue, 'a', 10), send(queue, 'b')]);
    expect(batch.messages).toBe(2);
    deleteMessage(queue, receiveOne(queue).receiptHandle);
    expect(batch.messages).toBe(1);
    time.pass(10);
    const { receiptHandle } = receiveOne(queue);
    expect(batch.messages).toBe(1);
    for (const _ of ['once', 'again']) deleteMessage(queue, receiptHandle);
    expect(batch.messages).toBe(0);
  });

  it('is replaced in its batch by the message that its handler sends on', () => {
    const { batch, queue, slowQueue } = newAttempts();
    runForBatches([batch], () => send(queue, 'a'));
    const { receiptHandle, recordBatches } = receiveOne(queue);
    runForBatches(recordBatches, () => send(slowQueue, 'a', 900));
    deleteMessage(queue, receiptHandle);
    expect(batch.messages).toBe(1);
  });

  it('does not count for its batch once it is a dead letter', () => {
    const { time, batch, queue, deadLetters } = newAttempts();
    runForBatches([batch], () => send(queue, 'a'));
    receiveOne(queue);
    time.pass(30);
    expect(batch.messages).toBe(0);
    deleteMessage(deadLetters, receiveOne(deadLetters).receiptHandle);
    expect(batch.messages).toBe(0);
  });

  it('belongs to no batch if it was sent outside of a handler call, or in a queue that holds no position', () => {
    const { batch, queue, deadLetters } = newAttempts();
    send(queue, 'a');
    runForBatches([batch], () => send(deadLetters, 'b'));
    for (const one of [queue, deadLetters]) expect(receiveOne(one).recordBatches).toEqual([]);
    expect(batch.messages).toBe(0);
  });
});
