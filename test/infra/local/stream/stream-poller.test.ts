import { randomUUID } from 'node:crypto';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import type { DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import { afterAll, expect, inject, it, vi } from 'vitest';
import { createTable } from '../../../../infra/local/engine/create-table.ts';
import * as queues from '../../../../infra/local/queues/memory-queue.ts';
import { type Stop, type Wait, waited } from '../../../../infra/local/queues/queue-poller.ts';
import { createChangeSignal, signalChange, waitForChange } from '../../../../infra/local/stream/change-signal.ts';
import { pollStream } from '../../../../infra/local/stream/stream-poller.ts';
import { type Positions, parsePositions } from '../../../../infra/local/stream/stream-positions.ts';
import { openTable } from '../../../../lib/table/client.ts';
import { until } from '../../../journeys/deployment.ts';
import { type AwsAnswer, startAws } from '../../cli/aws.ts';

const endpoint = inject('dynamodbEndpoint');
const stops: Stop[] = [];
afterAll(async () => {
  for (const stop of stops) await stop();
});

const nameIn = ({ dynamodb }: DynamoDBRecord) => dynamodb?.Keys?.pk?.S as string;

/** Handles a batch in a test. Returns the names of the changes that fail, if any. */
type Handling = (names: string[], call: number) => string[] | undefined | Promise<string[] | undefined>;

async function newStream() {
  const tableName = `stream-${randomUUID()}`;
  await createTable(endpoint, tableName);
  const { client } = openTable(tableName, endpoint);
  const stored: { positions: Positions } = { positions: {} };
  const read = () => ({ ...stored.positions });
  const positions = { read, write: (now: Positions) => void Object.assign(stored, { positions: { ...now } }) };
  const waits: number[] = [];
  const signal = createChangeSignal();
  const waitForSignal: typeof waitForChange = (_, seen, milliseconds) => {
    waits.push(milliseconds);
    return waitForChange(signal, seen, Math.min(milliseconds, 50));
  };
  return {
    stored,
    isStored: () => Object.keys(stored.positions).length === 1,
    signal,
    /** The waits that the reader asked for, in milliseconds. The actual waits are at most 50 ms. */
    waits,
    waited: (times: number) => until(`it has waited ${times} times`, () => waits.length >= times),
    put: async (names: Iterable<string>, kind = 'task') => {
      for (const pk of names) await client.send(new PutCommand({ TableName: tableName, Item: { pk, sk: 'x', kind } }));
    },
    /** Polls from the stored position. Records every batch before it is handled. */
    poll: (handle: Handling = () => undefined, batchSize = 100, from = endpoint) => {
      const batches: string[][] = [];
      const handler = async (event: unknown) => {
        const { Records } = event as DynamoDBStreamEvent;
        const names = Records.map(nameIn);
        batches.push(names);
        const failing = (await handle(names, batches.length)) ?? [];
        const failed = Records.filter((record) => failing.includes(nameIn(record)));
        return { batchItemFailures: failed.map(({ dynamodb }) => ({ itemIdentifier: dynamodb?.SequenceNumber })) };
      };
      const pauses: number[] = [];
      const wait: Wait = (milliseconds, signal) => {
        pauses.push(milliseconds);
        return waited(Math.min(milliseconds, 10), signal);
      };
      const source = { endpoint: from, tableName, kinds: ['task'], batchSize, positions, signal };
      const stop = pollStream({ name: 'test', ...source, handler, timeoutSeconds: 60 }, wait, waitForSignal);
      stops.push(stop);
      const received = (name: string) => until(`the handler receives ${name}`, () => batches.flat().includes(name));
      /** `pauses`: the waits after errors, in milliseconds. The actual waits are at most 10 ms. */
      return { batches, stop, received, pauses };
    },
  };
}

const letters = [...'abcdefghij'];

async function pollChanges(names: Iterable<string>, handle?: Handling, batchSize?: number) {
  const stream = await newStream();
  await stream.put(names);
  return { stream, ...stream.poll(handle, batchSize) };
}

it.concurrent('gives the changes of the listed kinds to the handler, in their order', async () => {
  const stream = await newStream();
  await stream.put('a');
  await stream.put(['not a task'], 'webhook');
  await stream.put('bc');
  const { batches, received } = stream.poll();
  await received('c');
  expect(batches.flat()).toEqual(['a', 'b', 'c']);
  await until('the position is stored', stream.isStored);
  const position = () => BigInt(Object.values(stream.stored.positions)[0] ?? 0);
  const before = position();
  await stream.put(['not a task either'], 'webhook');
  await until('the position moves on', () => position() > before);
});

it.concurrent('gives the handler at most the batch size, and retries from the failed change, as often as it fails', async () => {
  const fail: Handling = (_, call) => ({ 2: ['f', 'h'], 3: ['f'] })[call];
  const { batches, received } = await pollChanges(letters, fail, 4);
  await received('j');
  expect(batches).toEqual([[...'abcd'], [...'efgh'], [...'fghi'], [...'fghi'], [...'j']]);
});

it.concurrent('retries a whole batch if the handler throws', async () => {
  const { stream, batches, received } = await pollChanges('abc', (_, call) => {
    if (call <= 2) throw new Error('for the test');
    return undefined;
  });
  await until('it was called three times', () => batches.length === 3);
  await stream.put('d');
  await received('d');
  expect(batches).toEqual([[...'abc'], [...'abc'], [...'abc'], ['d']]);
});

it.concurrent('waits longer after each failure of a change', async () => {
  const { batches, pauses } = await pollChanges('a', (_, call) => (call <= 10 ? ['a'] : undefined));
  await until('it has succeeded', () => batches.length === 11);
  expect(pauses).toEqual([200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000, 10_000, 10_000]);
});

it.concurrent('starts at the oldest record if the engine does not know the position', async () => {
  const { stream, received, stop } = await pollChanges('ab');
  await received('b');
  await stop();
  for (const shard in stream.stored.positions) stream.stored.positions[shard] = 'nonsense';
  const second = stream.poll();
  await second.received('b');
  expect(second.batches.flat()).toEqual([...'ab']);
});

it.concurrent('stores a position after the batch is handled, and stops after the current call has ended', async () => {
  const { promise: gate, resolve: go } = Promise.withResolvers<undefined>();
  const { stream, stop, received, batches } = await pollChanges('a', () => gate);
  await received('a');
  const hasStopped = vi.fn();
  const stopped = stop().then(hasStopped);
  await stream.put('b');
  expect([hasStopped.mock.calls, stream.isStored()]).toEqual([[], false]);
  go(undefined);
  await stopped;
  expect([batches, stream.isStored()]).toEqual([[['a']], true]);
});

it.concurrent('stores the position at the end of the stream, and when it stops', async () => {
  const stream = await newStream();
  await stream.put(letters);
  const stored: boolean[] = [];
  const { stop, received } = stream.poll(() => void stored.push(stream.isStored()), 1);
  await received('j');
  // No position is stored while there are more records: a start from an older position only handles changes again.
  expect(stored).toEqual(letters.map(() => false));
  await stop();
  expect(stream.isStored()).toBe(true);
});

/** Handles changes in batches of one, and sends a message of a first attempt for each. */
async function pollAttempts() {
  const queue = queues.createMemoryQueue({ visibilitySeconds: 30, holdsPosition: true });
  const send: Handling = ([body = '']) => void queues.sendMessages(queue, [{ body, delaySeconds: 0 }]);
  const { stream, received, stop } = await pollChanges(letters, send, 1);
  await received('j');
  /** Deletes the messages of these changes, as after their attempts. */
  const attempt = (names: string[]) => {
    for (const { body, receiptHandle } of queues.receiveMessages(queue, 100))
      if (names.includes(body)) queues.deleteMessage(queue, receiptHandle);
  };
  return { stream, attempt, stop };
}

it.concurrent('stores no position above a change whose first attempt is not made', async () => {
  const { stream, attempt, stop } = await pollAttempts();
  attempt([...'abdefghij']);
  await stop();
  const next = stream.poll(undefined, 1);
  await next.received('j');
  expect(next.batches.flat()).toEqual([...'cdefghij']);
});

it.concurrent('stores the position after the last first attempt, without further changes', async () => {
  const { stream, attempt } = await pollAttempts();
  attempt(letters);
  await until('a position is stored', stream.isStored);
});

/** Starts a server in place of the engine, without records unless `answers` has some. Returns its endpoint. */
async function startEngineWith(answers: Record<string, (input: Record<string, unknown>) => AwsAnswer>) {
  const ok = (body: object) => () => ({ body });
  const empty: typeof answers = {
    ListStreams: ok({ Streams: [{ StreamArn: 'stream' }] }),
    DescribeStream: ok({ StreamDescription: { Shards: [{ ShardId: 'shard' }] } }),
    GetRecords: ok({ Records: [], NextShardIterator: 'next' }),
  };
  const all = Object.entries({ ...empty, ...answers });
  const { shell } = await startAws(
    Object.fromEntries(all.map(([name, answer]) => [`local:${name}`, ({ body }) => answer(body)])),
  );
  return shell.AWS_ENDPOINT_URL;
}
const failure = (name: string) => ({ status: 400, body: { __type: `com.amazonaws.dynamodb#${name}` } });

it.each([
  ['continues at its position after a temporary error', 'AccessDeniedException', 'AFTER_SEQUENCE_NUMBER 7'],
  ['starts at the oldest record if that at its position is deleted', 'TrimmedDataAccessException', 'TRIM_HORIZON '],
])('%s', async (_, error, position) => {
  const stream = await newStream();
  stream.stored.positions = { shard: '7' };
  const asked: string[] = [];
  const engine = await startEngineWith({
    GetShardIterator: ({ ShardIteratorType, SequenceNumber = '' }) => {
      asked.push(`${ShardIteratorType} ${SequenceNumber}`);
      return asked.length === 1 ? failure(error) : { body: { ShardIterator: 'next' } };
    },
  });
  stream.poll(undefined, 100, engine);
  await stream.waited(1);
  expect(asked).toEqual(['AFTER_SEQUENCE_NUMBER 7', position]);
});

it.concurrent('lists the shards once, and after the end of a shard until listing succeeds', async () => {
  const stream = await newStream();
  let ends = false;
  let asked = 0;
  const engine = await startEngineWith({
    DescribeStream: () => {
      asked += 1;
      if (asked === 2) return failure('AccessDeniedException');
      const names = ['steady', 'ending', ...(asked > 2 ? ['new'] : [])];
      return { body: { StreamDescription: { Shards: names.map((ShardId) => ({ ShardId })) } } };
    },
    // A shard's iterator is its name until it has given its record.
    GetShardIterator: ({ ShardId }) => ({ body: { ShardIterator: ShardId } }),
    GetRecords: ({ ShardIterator }) => {
      if (ShardIterator === 'ending' && ends) return { body: { Records: [] } };
      if (ShardIterator !== 'new') return { body: { Records: [], NextShardIterator: ShardIterator } };
      const dynamodb = { SequenceNumber: '1', Keys: { pk: { S: 'a' } }, NewImage: { kind: { S: 'task' } } };
      return { body: { Records: [{ dynamodb }], NextShardIterator: 'rest of the new' } };
    },
  });
  const { received, batches, pauses } = stream.poll(undefined, 100, engine);
  await stream.waited(6);
  expect([asked, pauses]).toEqual([1, []]);
  ends = true;
  signalChange(stream.signal);
  await received('a');
  await stream.waited(stream.waits.length + 6);
  expect([asked, pauses, batches]).toEqual([3, [5_000], [['a']]]);
});

it.concurrent('doubles its wait while nothing changes, and reads at once when a change is signalled', async () => {
  const stream = await newStream();
  const { received } = stream.poll();
  await stream.waited(7);
  expect(stream.waits.slice(0, 7)).toEqual([50, 100, 200, 400, 800, 1000, 1000]);
  const before = stream.waits.length;
  signalChange(stream.signal);
  await stream.waited(before + 1);
  expect(stream.waits[before]).toBe(50);
  await stream.waited(before + 6);
  await stream.put('a');
  await received('a');
  await until('the wait is the shortest again', () => stream.waits.lastIndexOf(50) > before);
});

it.each([
  ['no file', undefined, {}],
  ['an empty file, as after a power failure', '', {}],
  ['an incomplete file', '{"shard-1":"12', {}],
  ['a complete file', '{"shard-1":"123"}', { 'shard-1': '123' }],
])('parsePositions returns the positions of %s', (_, text, positions) => {
  expect(parsePositions(text)).toEqual(positions);
});
