import { randomUUID } from 'node:crypto';
import { CreateQueueCommand, GetQueueAttributesCommand, SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { Context, SQSEvent, SQSRecord } from 'aws-lambda';
import { afterAll, expect, it } from 'vitest';
import { pollQueue, type Stop, type Wait } from '../../../infra/local/queue-poller.ts';
import { startQueues } from '../../../infra/local/queues.ts';
import { clientConfig, queues as contractQueues } from '../../../lib/contract/deployment.ts';
import { until } from '../../journeys/deployment.ts';

const queues = await startQueues();
const client = new SQSClient(clientConfig(queues.endpoint));
const stops: Stop[] = [];
afterAll(async () => {
  for (const stop of stops) await stop();
  client.destroy();
  await queues.stop();
});

type Handling = (records: SQSRecord[], context: Context) => string[] | undefined | Promise<string[] | undefined>;

/** A promise that a test resolves. */
function gated() {
  let open = () => {};
  const gate = new Promise<undefined>((resolve) => {
    open = () => resolve(undefined);
  });
  return { gate, open: () => open() };
}

/** A queue whose messages come back after so many seconds unless they are deleted. */
async function newQueue(visibilitySeconds = 1) {
  const request = { QueueName: randomUUID(), Attributes: { VisibilityTimeout: String(visibilitySeconds) } };
  const url = (await client.send(new CreateQueueCommand(request))).QueueUrl as string;
  return {
    send: async (bodies: string[]) => {
      for (let at = 0; at < bodies.length; at += 10) {
        const Entries = bodies.slice(at, at + 10).map((MessageBody, index) => ({ Id: String(index), MessageBody }));
        await client.send(new SendMessageBatchCommand({ QueueUrl: url, Entries }));
      }
    },
    /** How many messages are in the queue, received or not. */
    size: async () => {
      const AttributeNames = ['All' as const];
      const { Attributes = {} } = await client.send(new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames }));
      return Number(Attributes.ApproximateNumberOfMessages) + Number(Attributes.ApproximateNumberOfMessagesNotVisible);
    },
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
      const mapping = { name: 'test', endpoint: queues.endpoint, url, handler, batchSize, concurrency };
      const stop = pollQueue({ ...mapping, timeoutSeconds: 30 }, wait);
      stops.push(stop);
      return { batches, stop };
    },
  };
}

it.concurrent('makes a queue for every one of the contract', () => {
  expect(Object.keys(queues.urls)).toEqual(Object.keys(contractQueues));
});

it.concurrent('hands messages over and deletes those that succeed', async () => {
  const queue = await newQueue();
  await queue.send([...'abc']);
  const seen: unknown[] = [];
  const { batches } = queue.poll((records, context) => {
    seen.push([records[0]?.eventSource, context.functionName, context.getRemainingTimeInMillis() > 25_000]);
    return undefined;
  });
  await until('the queue is empty', async () => (await queue.size()) === 0);
  expect(batches.flat().sort()).toEqual([...'abc']);
  expect(seen[0]).toEqual(['aws:sqs', 'test', true]);
});

it.concurrent('hands over at most as many at once as it is told', async () => {
  const queue = await newQueue();
  await queue.send([...'abcdefgh']);
  const { batches } = queue.poll(undefined, { batchSize: 3 });
  await until('the queue is empty', async () => (await queue.size()) === 0);
  expect(Math.max(...batches.map(({ length }) => length))).toBeLessThanOrEqual(3);
  expect(batches.flat().sort()).toEqual([...'abcdefgh']);
});

it.concurrent('hands a failed message over again, and only that', async () => {
  const queue = await newQueue();
  await queue.send([...'abc']);
  let calls = 0;
  const { batches } = queue.poll((records) => {
    calls++;
    return calls === 1 || records.some(({ body }) => body === 'b' && calls < 3) ? ['b'] : undefined;
  });
  await until('the queue is empty', async () => (await queue.size()) === 0);
  const times = (name: string) => batches.flat().filter((one) => one === name).length;
  expect([times('a'), times('c')]).toEqual([1, 1]);
  expect(times('b')).toBeGreaterThanOrEqual(2);
});

it.concurrent('hands a batch over again where the handler throws, and goes on with others', async () => {
  const queue = await newQueue();
  await queue.send(['poison']);
  let failures = 0;
  const { batches } = queue.poll((records) => {
    if (records.some(({ body }) => body === 'poison') && ++failures <= 2) throw new Error('a fault');
    return undefined;
  });
  await until('it has failed', () => failures > 0);
  await queue.send(['good']);
  await until('the queue is empty', async () => (await queue.size()) === 0);
  expect(batches.flat().filter((one) => one === 'poison')).toHaveLength(3);
  expect(batches.flat()).toContain('good');
});

it.concurrent('runs as many calls at once as it is told, and no more', async () => {
  const queue = await newQueue();
  let running = 0;
  let most = 0;
  const { gate, open } = gated();
  queue.poll(
    async () => {
      most = Math.max(most, ++running);
      if (running === 3) open();
      await gate;
      running--;
      return undefined;
    },
    { batchSize: 1, concurrency: 3 },
  );
  await queue.send([...'abcdefghi']);
  await until('the queue is empty', async () => (await queue.size()) === 0);
  expect(most).toBe(3);
});

/** A poller with calls under way that do not end by themselves, and whose time passes when the test says so. */
async function stopping(bodies: string[], concurrency: number) {
  const [call, time] = [gated(), gated()];
  const waits: number[] = [];
  const wait: Wait = (milliseconds) => {
    waits.push(milliseconds);
    return time.gate;
  };
  const queue = await newQueue(60);
  await queue.send(bodies);
  stops.push(async () => call.open());
  const { batches, stop } = queue.poll(() => call.gate, { batchSize: 1, concurrency, wait });
  await until('all are called', () => batches.length === bodies.length);
  const stopped = stop().then(() => 'stopped' as const);
  /** Whether it has stopped, once what can happen by itself has. */
  const state = () => Promise.race([stopped, queue.size().then(() => 'stopping' as const)]);
  return { queue, stopped, waits, state, endCalls: call.open, passTime: time.open };
}

it.concurrent('leaves a call that takes longer than 12 s, whose message stays', async () => {
  const { queue, stopped, waits, state, passTime, endCalls } = await stopping(['a'], 2);
  await until('it waits', () => waits.length > 0);
  expect([waits, await state()]).toEqual([[12_000], 'stopping']);
  passTime();
  expect(await stopped).toBe('stopped');
  expect(await queue.size()).toBe(1);
  endCalls();
});

it.concurrent('waits no longer than the calls under way take', async () => {
  const { queue, stopped, state, endCalls } = await stopping(['a', 'b'], 3);
  expect(await state()).toBe('stopping');
  endCalls();
  expect(await stopped).toBe('stopped');
  expect(await queue.size()).toBe(0);
});

it.concurrent('leaves calls also where as many are under way as may be', async () => {
  const { queue, stopped, waits, passTime, endCalls } = await stopping(['a', 'b'], 2);
  await until('it waits', () => waits.length > 0);
  passTime();
  expect(await stopped).toBe('stopped');
  expect(await queue.size()).toBe(2);
  endCalls();
});

it.concurrent('lets calls under way end before it has stopped, and deletes what they did', async () => {
  const queue = await newQueue();
  await queue.send(['a']);
  const { gate, open } = gated();
  const { batches, stop } = queue.poll(() => gate);
  await until('it is called', () => batches.length === 1);
  let hasStopped = false;
  const stopped = stop().then(() => {
    hasStopped = true;
  });
  expect(await queue.size()).toBe(1);
  expect(hasStopped).toBe(false);
  open();
  await stopped;
  expect(await queue.size()).toBe(0);
});

it.concurrent('stops at once while it waits for messages', async () => {
  const queue = await newQueue();
  const { stop, batches } = queue.poll(undefined, { concurrency: 8 });
  await queue.send(['a']);
  await until('it polls', () => batches.length === 1);
  const startedAt = performance.now();
  await stop();
  expect(performance.now() - startedAt).toBeLessThan(5_000);
});
