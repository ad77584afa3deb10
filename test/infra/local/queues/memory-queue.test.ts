import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  changeVisibility,
  createMemoryQueue,
  deleteMessage,
  enqueueMessages,
  type MemoryQueue,
  onVisible,
  receiveMessages,
} from '../../../../infra/local/queues/memory-queue.ts';
import { type RecordBatch, runForBatches } from '../../../../infra/local/queues/record-batches.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const pass = (seconds: number) => vi.advanceTimersByTime(seconds * 1000);

/** Creates a queue with a visibility timeout of 30 s and a dead-letter queue after three receives. */
function newQueue() {
  const deadLetters = createMemoryQueue({ visibilitySeconds: 5 });
  const redrive = { queue: deadLetters, maxReceiveCount: 3 };
  return { queue: createMemoryQueue({ visibilitySeconds: 30, deadLetters: redrive }), deadLetters };
}

const send = (queue: MemoryQueue, bodies: Iterable<string>, delaySeconds = 0) =>
  enqueueMessages(
    queue,
    [...bodies].map((body) => ({ body, delaySeconds })),
  );
const receive = (queue: MemoryQueue, most = 10) => receiveMessages(queue, most);
const bodiesIn = (queue: MemoryQueue) => receive(queue).map(({ body }) => body);

function receiveOne(queue: MemoryQueue) {
  const [message] = receive(queue, 1);
  if (!message) throw new Error('No message is visible.');
  return message;
}

/** Sends and receives a message, and returns its receipt handle. */
function receiveSent(queue: MemoryQueue, visibilitySeconds?: number): string {
  send(queue, 'a');
  return receiveMessages(queue, 1, visibilitySeconds)[0]?.receiptHandle as string;
}

describe('a queue in memory', () => {
  it('returns messages in the order in which they were sent, up to the requested number, until they are deleted', () => {
    const { queue } = newQueue();
    send(queue, 'abc');
    expect(receive(queue, 2).map(({ body }) => body)).toEqual(['a', 'b']);
    deleteMessage(queue, receiveOne(queue).receiptHandle);
    expect(bodiesIn(queue)).toEqual([]);
    pass(30);
    expect(bodiesIn(queue)).toEqual(['a', 'b']);
  });

  it('returns with a message when it was sent and first received, and how often it was received', () => {
    const { queue } = newQueue();
    const sentAt = Date.now();
    const [id] = send(queue, 'a');
    pass(2);
    const firstReceivedAt = Date.now();
    for (const receiveCount of [1, 2]) {
      expect(receiveOne(queue)).toMatchObject({ id, sentAt, firstReceivedAt, receiveCount });
      pass(30);
    }
  });

  it.each([-1, 901, 0.5, Number.NaN])('rejects all messages if one has a delay of %d s', (delaySeconds) => {
    const { queue } = newQueue();
    const messages = [0, delaySeconds].map((delay) => ({ body: 'a', delaySeconds: delay }));
    expect(() => enqueueMessages(queue, messages)).toThrow('from 0 to 900');
    expect(bodiesIn(queue)).toEqual([]);
  });

  it.each<[number, string, (queue: MemoryQueue) => unknown]>([
    [900, 'after its delay', (queue) => send(queue, 'a', 900)],
    [30, 'after its visibility timeout', (queue) => receiveSent(queue)],
    [100, 'after the visibility timeout that its receiver sets', (queue) => receiveSent(queue, 100)],
    [50, 'after its changed visibility timeout', (queue) => changeVisibility(queue, receiveSent(queue), 50)],
    [
      30,
      'whatever the receiver before does with its receipt handle',
      (queue) => {
        const receiptHandle = receiveSent(queue);
        pass(30);
        receiveOne(queue);
        deleteMessage(queue, receiptHandle);
        changeVisibility(queue, receiptHandle, 0);
      },
    ],
  ])('makes a message visible in %i s, %s', (seconds, _, hide) => {
    const { queue } = newQueue();
    hide(queue);
    pass(seconds - 1);
    expect(bodiesIn(queue)).toEqual([]);
    pass(1);
    expect(bodiesIn(queue)).toEqual(['a']);
  });

  it('moves a message to the dead-letter queue after the last receive, where it remains', () => {
    const { queue, deadLetters } = newQueue();
    const sentAt = Date.now();
    const [id] = send(queue, 'a');
    for (let receives = 1; receives <= 3; receives++) {
      expect(bodiesIn(deadLetters)).toEqual([]);
      receiveOne(queue);
      pass(30);
    }
    expect(bodiesIn(queue)).toEqual([]);
    for (let receiveCount = 1; receiveCount <= 10; receiveCount++) {
      expect(receiveOne(deadLetters)).toMatchObject({ id, body: 'a', sentAt, receiveCount });
      pass(5);
    }
  });

  it('calls its listener once for messages that are sent together, and whenever messages become visible later', () => {
    const { queue } = newQueue();
    const listener = vi.fn();
    const end = onVisible(queue, listener);
    send(queue, 'abc');
    send(queue, 'd', 10);
    expect(listener).toHaveBeenCalledTimes(1);
    pass(10);
    expect(listener).toHaveBeenCalledTimes(2);
    receive(queue, 1);
    pass(30);
    end();
    send(queue, 'e');
    expect(listener).toHaveBeenCalledTimes(3);
  });
});

describe('a message of a queue that holds the stream position', () => {
  /** Creates a batch of records, and queues of first attempts with a dead-letter queue after one receive. */
  function newAttempts() {
    const deadLetters = { queue: createMemoryQueue({ visibilitySeconds: 5 }), maxReceiveCount: 1 };
    const create = () => createMemoryQueue({ visibilitySeconds: 30, deadLetters, holdsPosition: true });
    const batch: RecordBatch = { shard: '0', number: 0, messages: 0 };
    return { batch, queue: create(), slowQueue: create(), deadLetters: deadLetters.queue };
  }

  it('counts for its batch until it is deleted, whether it is delayed, visible or received', () => {
    const { batch, queue } = newAttempts();
    runForBatches([batch], () => [send(queue, 'a', 10), send(queue, 'b')]);
    expect(batch.messages).toBe(2);
    deleteMessage(queue, receiveOne(queue).receiptHandle);
    expect(batch.messages).toBe(1);
    pass(10);
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

  it('does not count for a batch as a dead letter, outside of a handler call, or in a queue that holds no position', () => {
    const { batch, queue, slowQueue, deadLetters } = newAttempts();
    runForBatches([batch], () => send(queue, 'a'));
    receiveOne(queue);
    pass(30);
    expect(batch.messages).toBe(0);
    deleteMessage(deadLetters, receiveOne(deadLetters).receiptHandle);
    send(slowQueue, 'a');
    runForBatches([batch], () => send(deadLetters, 'b'));
    for (const one of [slowQueue, deadLetters]) expect(receiveOne(one).recordBatches).toEqual([]);
    expect(batch.messages).toBe(0);
  });
});
