import type { Context, SQSEvent, SQSRecord } from 'aws-lambda';
import { expect, it } from 'vitest';
import { createMemoryQueue, sendMessages } from '../../../../infra/local/queues/memory-queue.ts';
import { pollQueue, type Wait } from '../../../../infra/local/queues/queue-poller.ts';
import { type RecordBatch, sendingFor } from '../../../../infra/local/queues/record-batches.ts';
import { createManualTime } from './queue-time.ts';

type Handling = (records: SQSRecord[], context: Context) => string[] | undefined | Promise<string[] | undefined>;

/** A promise that a test resolves. */
function gated() {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  return { gate: promise, open: () => resolve(undefined) };
}

/** A queue whose messages come back after 30 s unless they are deleted. */
function newQueue() {
  const time = createManualTime();
  const queue = createMemoryQueue({ visibilitySeconds: 30, holdsPosition: true, time });
  return {
    now: time.now,
    /** Lets so many seconds pass for the queue, and everything happen that follows. */
    pass: async (seconds = 0): Promise<void> => {
      time.pass(seconds);
      // The poller receives in the next turn of the event loop; what it calls then has ended by the end of that.
      for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
    },
    send: (bodies: Iterable<string>) =>
      sendMessages(
        queue,
        [...bodies].map((body) => ({ body, delaySeconds: 0 })),
      ),
    /** How many messages are in the queue, received or not. */
    size: () => queue.visible.size + queue.received.size,
    /** Polls; what is handled is noted first. `handle` answers the bodies that fail. */
    poll: (
      handle: Handling = () => undefined,
      { batchSize = 10, concurrency = 1, wait }: { batchSize?: number; concurrency?: number; wait?: Wait } = {},
    ) => {
      const batches: string[][] = [];
      const handler = async (event: unknown, context: Context) => {
        const { Records } = event as SQSEvent;
        batches.push(Records.map(({ body }) => body));
        const failing = (await handle(Records, context)) ?? [];
        const failed = Records.filter(({ body }) => failing.includes(body));
        return { batchItemFailures: failed.map(({ messageId }) => ({ itemIdentifier: messageId })) };
      };
      const stop = pollQueue({ name: 'test', queue, handler, batchSize, concurrency, timeoutSeconds: 30 }, wait);
      return { batches, stop };
    },
  };
}

it('hands messages over as Lambda does, and deletes those that succeed', async () => {
  const queue = newQueue();
  const ids = queue.send('ab');
  const sentAt = queue.now();
  const seen: unknown[] = [];
  const { batches } = queue.poll((records, context) => {
    seen.push(...records, context.functionName, context.getRemainingTimeInMillis() > 25_000);
    return undefined;
  });
  await queue.pass();
  expect(batches).toEqual([['a', 'b']]);
  expect(seen).toMatchObject([
    {
      messageId: ids[0],
      body: 'a',
      md5OfBody: '0cc175b9c0f1b6a831c399e269772661',
      eventSource: 'aws:sqs',
      attributes: {
        ApproximateReceiveCount: '1',
        SentTimestamp: String(sentAt),
        ApproximateFirstReceiveTimestamp: String(sentAt),
      },
    },
    { messageId: ids[1], body: 'b' },
    'test',
    true,
  ]);
  expect(queue.size()).toBe(0);
});

it('hands over at once what is sent while it waits, in one call what is sent together', async () => {
  const queue = newQueue();
  const { batches } = queue.poll(undefined, { concurrency: 5 });
  await queue.pass(100);
  queue.send('a');
  queue.send('b');
  await queue.pass();
  queue.send('c');
  await queue.pass();
  expect(batches).toEqual([['a', 'b'], ['c']]);
});

it('hands over at most as many at once as it is told', async () => {
  const queue = newQueue();
  queue.send('abcdefgh');
  const { batches } = queue.poll(undefined, { batchSize: 3 });
  await queue.pass();
  expect(batches).toEqual([[...'abc'], [...'def'], [...'gh']]);
});

it('hands a failed message over again after its time, and only that', async () => {
  const queue = newQueue();
  queue.send('abc');
  const counts: (string | undefined)[] = [];
  const { batches } = queue.poll((records) => {
    counts.push(records.find(({ body }) => body === 'b')?.attributes.ApproximateReceiveCount);
    return counts.length < 3 ? ['b'] : undefined;
  });
  await queue.pass(29);
  expect(batches).toEqual([[...'abc']]);
  await queue.pass(1);
  await queue.pass(30);
  expect(batches).toEqual([[...'abc'], ['b'], ['b']]);
  expect(counts).toEqual(['1', '2', '3']);
  expect(queue.size()).toBe(0);
});

it('hands a batch over again where the handler throws, and goes on with others meanwhile', async () => {
  const queue = newQueue();
  queue.send(['poison']);
  const { batches } = queue.poll((records) => {
    if (batches.length < 3 && records.some(({ body }) => body === 'poison')) throw new Error('a fault');
    return undefined;
  });
  await queue.pass();
  queue.send(['good']);
  await queue.pass();
  expect(batches).toEqual([['poison'], ['good']]);
  await queue.pass(30);
  expect(batches).toEqual([['poison'], ['good'], ['poison']]);
  expect(queue.size()).toBe(0);
});

it('runs as many calls at once as it is told, no more, and the next as soon as one ends', async () => {
  const queue = newQueue();
  const open: (() => void)[] = [];
  const { batches } = queue.poll(
    () => {
      const call = gated();
      open.push(call.open);
      return call.gate;
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

/** A poller with calls under way that do not end by themselves, and whose time passes when the test says so. */
async function stopping(bodies: string, concurrency: number) {
  const [call, time] = [gated(), gated()];
  const waits: number[] = [];
  const wait: Wait = (milliseconds) => {
    waits.push(milliseconds);
    return time.gate;
  };
  const queue = newQueue();
  queue.send(bodies);
  const { batches, stop } = queue.poll(() => call.gate, { batchSize: 1, concurrency, wait });
  await queue.pass();
  let state = 'stopping';
  const stopped = stop().then(() => {
    state = 'stopped';
  });
  await queue.pass();
  return { queue, batches, stopped, waits, state: () => state, endCalls: call.open, passTime: time.open };
}

it.each([
  ['where more could run', 2],
  ['where as many are under way as may be', 1],
])('leaves a call that takes longer than 12 s, whose message stays, %s', async (_, concurrency) => {
  const { queue, stopped, waits, state, passTime } = await stopping('a', concurrency);
  expect([waits, state()]).toEqual([[12_000], 'stopping']);
  passTime();
  await stopped;
  expect(queue.size()).toBe(1);
});

it('waits no longer than the calls under way take, deletes what they did, and begins no other', async () => {
  const { queue, batches, stopped, state, endCalls } = await stopping('abc', 2);
  expect(state()).toBe('stopping');
  endCalls();
  await stopped;
  expect([batches.flat(), queue.size()]).toEqual([[...'ab'], 1]);
  queue.send('d');
  await queue.pass();
  expect(batches.flat()).toEqual([...'ab']);
});

it('stops at once while it waits for messages', async () => {
  const { stop } = newQueue().poll(undefined, { wait: () => new Promise(() => {}) });
  await expect(stop()).resolves.toBeUndefined();
});

it('has what a call sends belong to the batches of records of its messages, and to no other', async () => {
  const queue = newQueue();
  const passedOn = createMemoryQueue({ visibilitySeconds: 30, holdsPosition: true });
  const [one, other, third]: RecordBatch[] = [{ messages: 0 }, { messages: 0 }, { messages: 0 }];
  queue.poll(
    (records) => {
      if (records.some(({ body }) => body === 'pass on'))
        sendMessages(passedOn, [{ body: 'passed on', delaySeconds: 0 }]);
      return undefined;
    },
    { batchSize: 3 },
  );
  sendingFor([one as RecordBatch], () => queue.send(['pass on', 'a']));
  sendingFor([other as RecordBatch], () => queue.send(['b']));
  sendingFor([third as RecordBatch], () => queue.send(['c', 'd']));
  await queue.pass();
  expect(queue.size()).toBe(0);
  expect([one, other, third]).toEqual([{ messages: 1 }, { messages: 1 }, { messages: 0 }]);
});
