import type { Context, SQSEvent, SQSRecord } from 'aws-lambda';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createMemoryQueue, enqueueMessages, type MemoryQueue } from '../../../../infra/local/queues/memory-queue.ts';
import { pollQueue, type Wait } from '../../../../infra/local/queues/queue-poller.ts';
import { type RecordBatch, runForBatches } from '../../../../infra/local/queues/record-batches.ts';

// The poller receives in the next turn of the event loop.
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

type Handling = (records: SQSRecord[], call: number) => string[] | undefined | Promise<string[] | undefined>;

const send = (queue: MemoryQueue, bodies: Iterable<string>) =>
  enqueueMessages(
    queue,
    [...bodies].map((body) => ({ body, delaySeconds: 0 })),
  );

/** Creates a queue with a visibility timeout of 30 s. */
function newQueue() {
  const queue = createMemoryQueue({ visibilitySeconds: 30, holdsPosition: true });
  return {
    /** Advances the time of the queue, and waits until the handler calls have ended. */
    pass: async (seconds = 0): Promise<void> => {
      vi.advanceTimersByTime(seconds * 1000);
      // The poller receives in the next turn of the event loop, and its calls end within the turns after it.
      for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
    },
    send: (bodies: Iterable<string>) => send(queue, bodies),
    queue,
    messages: () => [...queue.visible, ...queue.received.values()],
    size: () => queue.visible.size + queue.received.size,
    /** Polls, and records every batch before it is handled. `handle` returns the bodies of the messages that fail. */
    poll: (
      handle: Handling = () => undefined,
      { batchSize = 10, concurrency = 1, wait }: { batchSize?: number; concurrency?: number; wait?: Wait } = {},
    ) => {
      const batches: string[][] = [];
      const calls: { records: SQSRecord[]; context: Context }[] = [];
      const handler = async (event: unknown, context: Context) => {
        const { Records } = event as SQSEvent;
        batches.push(Records.map(({ body }) => body));
        calls.push({ records: Records, context });
        const failing = (await handle(Records, calls.length)) ?? [];
        const failed = Records.filter(({ body }) => failing.includes(body));
        return { batchItemFailures: failed.map(({ messageId }) => ({ itemIdentifier: messageId })) };
      };
      const stop = pollQueue({ name: 'test', queue, handler, batchSize, concurrency, timeoutSeconds: 30 }, wait);
      return { batches, calls, stop };
    },
  };
}

it('gives messages to the handler as Lambda does, and deletes the handled ones', async () => {
  const queue = newQueue();
  const [messageId, other] = queue.send('ab');
  const sentAt = String(Date.now());
  const { calls } = queue.poll();
  await queue.pass();
  const [{ records = [], context } = {}] = calls;
  expect([context?.functionName, (context?.getRemainingTimeInMillis() ?? 0) > 25_000]).toEqual(['test', true]);
  const times = { SentTimestamp: sentAt, ApproximateFirstReceiveTimestamp: sentAt };
  const attributes = { ApproximateReceiveCount: '1', ...times };
  expect(records).toMatchObject([
    { messageId, body: 'a', md5OfBody: '', eventSource: 'aws:sqs', attributes },
    { messageId: other, body: 'b' },
  ]);
  expect(queue.size()).toBe(0);
});

it('gives new messages to the handler at once, messages of one turn in one call up to the batch size', async () => {
  const queue = newQueue();
  const { batches } = queue.poll(undefined, { concurrency: 5, batchSize: 3 });
  await queue.pass(100);
  queue.send('a');
  queue.send('bcd');
  await queue.pass();
  queue.send('e');
  await queue.pass();
  expect(batches).toEqual([['a', 'b', 'c'], ['d'], ['e']]);
});

it('retries only a failed message, after its visibility timeout', async () => {
  const queue = newQueue();
  queue.send('abc');
  const { batches, calls } = queue.poll((_, call) => (call < 3 ? ['b'] : undefined));
  await queue.pass(29);
  expect(batches).toEqual([[...'abc']]);
  await queue.pass(1);
  await queue.pass(30);
  expect(batches).toEqual([[...'abc'], ['b'], ['b']]);
  expect(calls.at(-1)?.records[0]?.attributes.ApproximateReceiveCount).toBe('3');
  expect(queue.size()).toBe(0);
});

it('retries a batch if the handler throws, and handles other messages meanwhile', async () => {
  const queue = newQueue();
  queue.send(['poison']);
  const { batches } = queue.poll((_, call) => {
    if (call === 1) throw new Error('for the test');
    return undefined;
  });
  await queue.pass();
  queue.send(['good']);
  await queue.pass();
  await queue.pass(30);
  expect([batches, queue.size()]).toEqual([[['poison'], ['good'], ['poison']], 0]);
});

it('runs at most the concurrency of calls, and the next when one ends', async () => {
  const queue = newQueue();
  const open: (() => void)[] = [];
  const { batches } = queue.poll(
    () => {
      const { promise, resolve } = Promise.withResolvers<undefined>();
      open.push(() => resolve(undefined));
      return promise;
    },
    { batchSize: 1, concurrency: 3 },
  );
  queue.send('abcde');
  await queue.pass();
  expect(batches.flat()).toEqual([...'abc']);
  open[1]?.();
  await queue.pass();
  expect(batches.flat()).toEqual([...'abcd']);
  for (const end of open) end();
  await queue.pass();
  expect(batches.flat()).toEqual([...'abcde']);
});

/** Stops a poller whose current calls, and whose wait for them, end when the test says so. */
async function stopDuringCalls(bodies: string, concurrency: number) {
  const [call, time] = [Promise.withResolvers<undefined>(), Promise.withResolvers<void>()];
  const wait = vi.fn<Wait>(() => time.promise);
  const queue = newQueue();
  queue.send(bodies);
  const { batches, stop } = queue.poll(() => call.promise, { batchSize: 1, concurrency, wait });
  await queue.pass();
  const hasStopped = vi.fn();
  const stopped = stop().then(hasStopped);
  await queue.pass();
  expect(hasStopped).not.toHaveBeenCalled();
  return { queue, batches, stopped, wait, endCalls: () => call.resolve(undefined), passTime: time.resolve };
}

it.each([
  ['below the concurrency', 2],
  ['at the concurrency', 1],
])('stops after 12 s while a call %s still runs, and keeps its message', async (_, concurrency) => {
  const { queue, stopped, wait, passTime } = await stopDuringCalls('a', concurrency);
  expect(wait.mock.calls).toEqual([[12_000]]);
  passTime();
  await stopped;
  expect(queue.size()).toBe(1);
});

it('waits for current calls, deletes their messages, and starts no other call', async () => {
  const { queue, batches, stopped, endCalls } = await stopDuringCalls('abc', 2);
  endCalls();
  await stopped;
  queue.send('d');
  await queue.pass();
  expect([batches.flat(), queue.size()]).toEqual([[...'ab'], 2]);
});

it('stops at once if no call runs', async () => {
  const { stop } = newQueue().poll(undefined, { wait: () => new Promise(() => {}) });
  await expect(stop()).resolves.toBeUndefined();
});

const newBatch = (number: number): RecordBatch => ({ shard: '0', number, messages: 0 });

it('a message that a call sends belongs to the oldest record batch of the messages of that call only', async () => {
  const queue = newQueue();
  const next = createMemoryQueue({ visibilitySeconds: 30, holdsPosition: true });
  const [one, other, third] = [newBatch(1), newBatch(2), newBatch(3)];
  const sendOn: Handling = ([first]) => void (first?.body === 'c' && send(next, ['sent on']));
  queue.poll(sendOn, { batchSize: 3 });
  for (const [batch, bodies] of [
    [other, 'c'],
    [one, 'ab'],
    [third, 'de'],
  ] as const)
    runForBatches([batch], () => queue.send(bodies));
  await queue.pass();
  expect([one, other, third].map(({ messages }) => messages)).toEqual([1, 0, 0]);
});

it('messages of many record batches that are sent on again and again keep one batch each, until they are done', async () => {
  const queue = newQueue();
  const batches = Array.from({ length: 100 }, (_, number) => newBatch(number));
  const held: number[] = [];
  let rounds = 0;
  const sendOn: Handling = (records) => {
    for (const { recordBatches } of queue.messages()) held.push(recordBatches.length);
    if (rounds++ < 500)
      send(
        queue.queue,
        records.map(({ body }) => body),
      );
    return undefined;
  };
  for (const batch of batches) runForBatches([batch], () => queue.send([String(batch.number)]));
  queue.poll(sendOn, { batchSize: 9 });
  for (let turn = 0; turn < 600; turn++) await queue.pass();
  expect(rounds).toBeGreaterThan(500);
  expect(Math.max(...held)).toBe(1);
  expect(queue.size()).toBe(0);
  expect(batches.filter(({ messages }) => messages !== 0)).toEqual([]);
});
