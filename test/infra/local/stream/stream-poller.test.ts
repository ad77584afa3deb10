import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import type { DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import { afterAll, expect, inject, it } from 'vitest';
import { createTable } from '../../../../infra/local/engine/create-table.ts';
import {
  createMemoryQueue,
  deleteMessage,
  receiveMessages,
  sendMessages,
} from '../../../../infra/local/queues/memory-queue.ts';
import { type Stop, type Wait, waited } from '../../../../infra/local/queues/queue-poller.ts';
import { type Bell, openBell } from '../../../../infra/local/stream/change-signal.ts';
import { pollStream } from '../../../../infra/local/stream/stream-poller.ts';
import { type Positions, positionsIn } from '../../../../infra/local/stream/stream-positions.ts';
import { openTable } from '../../../../lib/table/client.ts';
import { until } from '../../../journeys/deployment.ts';

const endpoint = inject('dynamodbEndpoint');
const stops: Stop[] = [];
afterAll(async () => {
  for (const stop of stops) await stop();
});

const nameIn = ({ dynamodb }: DynamoDBRecord) => dynamodb?.Keys?.pk?.S as string;
const numberIn = ({ dynamodb }: DynamoDBRecord) => dynamodb?.SequenceNumber as string;

/** What an engine answers instead of the real one: a status and a body. */
type Instead = { status: number; body: object } | undefined;

/** The real engine, but for the requests that `instead` answers. */
async function alteredEngine(instead: (operation: string, input: Record<string, string>) => Instead): Promise<string> {
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await Array.fromAsync(request as AsyncIterable<Buffer>));
    const target = String(request.headers['x-amz-target']);
    const other = instead(target.split('.').at(-1) ?? '', JSON.parse(body.toString('utf8')));
    if (other) return void response.writeHead(other.status).end(JSON.stringify(other.body));
    const passedOn = ['x-amz-target', 'content-type', 'authorization', 'x-amz-date'];
    const headers = Object.fromEntries(passedOn.map((name) => [name, String(request.headers[name])]));
    const answer = await fetch(endpoint, { method: 'POST', headers, body });
    response.writeHead(answer.status).end(Buffer.from(await answer.arrayBuffer()));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stops.unshift(async () => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** An engine that answers the first request for a position with an error. */
function faultyEngine(error: string): Promise<string> {
  let struck = false;
  return alteredEngine((operation) => {
    if (struck || operation !== 'GetShardIterator') return undefined;
    struck = true;
    return { status: 400, body: { __type: `com.amazonaws.dynamodb#${error}` } };
  });
}

/** What a fake handler does with a batch: the names of the changes that fail, or nothing where all went well. */
type Handling = (names: string[], call: number) => string[] | undefined | Promise<string[] | undefined>;

/** A table with a stream of its own. */
async function newStream() {
  const tableName = `stream-${randomUUID()}`;
  await createTable(endpoint, tableName);
  const table = openTable(tableName, endpoint);
  const kept: { positions: Positions } = { positions: {} };
  const waits: number[] = [];
  const actual = openBell();
  const bell: Bell = {
    ...actual,
    wait: (since, milliseconds) => {
      waits.push(milliseconds);
      return actual.wait(since, Math.min(milliseconds, 50));
    },
  };
  return {
    kept,
    bell,
    /** How long the reader was to wait each time, in milliseconds. It waits 50 ms at most. */
    waits,
    waited: (times: number) => until(`it has waited ${times} times`, () => waits.length >= times),
    put: async (names: string[], kind = 'task') => {
      for (const pk of names)
        await table.client.send(new PutCommand({ TableName: tableName, Item: { pk, sk: 'x', kind } }));
    },
    /** Polls from the kept position on; every batch is noted before it is handled. */
    poll: (handle: Handling = () => undefined, batchSize = 100, from = endpoint) => {
      const batches: string[][] = [];
      const handler = async (event: unknown) => {
        const { Records } = event as DynamoDBStreamEvent;
        const names = Records.map(nameIn);
        batches.push(names);
        const failing = (await handle(names, batches.length)) ?? [];
        const failed = Records.filter((record) => failing.includes(nameIn(record)));
        return { batchItemFailures: failed.map((record) => ({ itemIdentifier: numberIn(record) })) };
      };
      const positions = {
        read: () => ({ ...kept.positions }),
        write: (now: Positions) => {
          kept.positions = { ...now };
        },
      };
      const mapping = {
        name: 'test',
        endpoint: from,
        tableName,
        handler,
        kinds: ['task'],
        batchSize,
        timeoutSeconds: 60,
      };
      const pauses: number[] = [];
      const wait: Wait = (milliseconds, signal) => {
        pauses.push(milliseconds);
        return waited(Math.min(milliseconds, 10), signal);
      };
      const stop = pollStream({ ...mapping, positions, bell }, wait);
      stops.push(stop);
      const heard = (name: string) => until(`${name} is heard`, () => batches.flat().includes(name));
      /** `pauses`: how long it was to wait after faults, in milliseconds. It waits 10 ms at most. */
      return { batches, stop, heard, pauses };
    },
  };
}

const letters = [...'abcdefghij'];

it.concurrent('hands over the changes of the listed kinds in their order, with both images', async () => {
  const stream = await newStream();
  await stream.put(['a']);
  await stream.put(['not a task'], 'webhook');
  await stream.put(['b', 'c']);
  const { batches, heard } = stream.poll();
  await heard('c');
  expect(batches.flat()).toEqual(['a', 'b', 'c']);
});

it.concurrent('hands over at most as many at once as it is told', async () => {
  const stream = await newStream();
  await stream.put(letters);
  const { batches, heard } = stream.poll(undefined, 4);
  await heard('j');
  expect(batches).toEqual([[...'abcd'], [...'efgh'], [...'ij']]);
});

it.concurrent('goes on from the failed change, and hands over none before it again', async () => {
  const stream = await newStream();
  await stream.put(letters);
  const { batches, heard } = stream.poll((_, call) => (call === 2 ? ['f', 'h'] : undefined), 4);
  await heard('j');
  expect(batches).toEqual([[...'abcd'], [...'efgh'], [...'fghi'], [...'j']]);
});

it.concurrent('hands a whole batch over again where the handler throws', async () => {
  const stream = await newStream();
  await stream.put([...'abc']);
  const { batches, heard } = stream.poll((_, call) => {
    if (call <= 2) throw new Error('a fault');
    return undefined;
  });
  await until('it was called thrice', () => batches.length === 3);
  await stream.put(['d']);
  await heard('d');
  expect(batches).toEqual([[...'abc'], [...'abc'], [...'abc'], ['d']]);
});

it.concurrent('loses none that come after one that fails and fails', async () => {
  const stream = await newStream();
  await stream.put([...'abc']);
  let failures = 0;
  const { batches, heard } = stream.poll((names) => {
    if (!names.includes('b') || ++failures > 4) return undefined;
    return ['b'];
  });
  await until('it has failed', () => failures >= 2);
  await stream.put([...'de']);
  await heard('e');
  const succeeded = batches.flat().filter((name, at, all) => all.lastIndexOf(name) === at);
  expect(succeeded).toEqual([...'abcde']);
  expect(batches.filter((names) => names.includes('a'))).toHaveLength(1);
});

it.concurrent('waits longer each time a change fails', async () => {
  const stream = await newStream();
  await stream.put(['a']);
  const { batches, pauses } = stream.poll((_, call) => (call <= 10 ? ['a'] : undefined));
  await until('it has succeeded', () => batches.length === 11);
  expect(pauses).toEqual([200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000, 10_000, 10_000]);
});

it.concurrent('starts where it was left', async () => {
  const stream = await newStream();
  await stream.put([...'abc']);
  const first = stream.poll((_, call) => (call === 1 ? ['b'] : undefined));
  await first.heard('a');
  await first.stop();
  await stream.put([...'de']);
  const second = stream.poll();
  await second.heard('e');
  const handled = first.batches.length > 1 ? [...'de'] : [...'bcde'];
  expect(second.batches.flat()).toEqual(handled);
  await second.stop();
  await stream.put(['f']);
  const third = stream.poll();
  await third.heard('f');
  expect(third.batches).toEqual([['f']]);
});

it.concurrent('starts with the oldest where the engine does not know the position any more', async () => {
  const stream = await newStream();
  await stream.put([...'ab']);
  const first = stream.poll();
  await first.heard('b');
  await first.stop();
  stream.kept.positions = Object.fromEntries(Object.keys(stream.kept.positions).map((shard) => [shard, 'nonsense']));
  const second = stream.poll();
  await second.heard('b');
  expect(second.batches.flat()).toEqual([...'ab']);
});

it.concurrent('notes how far it is only once a batch is handled, also past changes of other kinds', async () => {
  const stream = await newStream();
  let go = () => {};
  const gate = new Promise<undefined>((resolve) => {
    go = () => resolve(undefined);
  });
  await stream.put(['a']);
  const { heard } = stream.poll(() => gate);
  await heard('a');
  expect(stream.kept.positions).toEqual({});
  go();
  await until('the position is kept', () => Object.keys(stream.kept.positions).length === 1);
  const [before] = Object.values(stream.kept.positions);
  await stream.put(['other'], 'webhook');
  await until(
    'the position moves on',
    () => BigInt(Object.values(stream.kept.positions)[0] ?? 0) > BigInt(before ?? 0),
  );
});

it.concurrent('notes how far it is once it has seen all, and once more when it stops', async () => {
  const stream = await newStream();
  await stream.put(letters);
  const written: number[] = [];
  const { stop, heard, batches } = stream.poll(() => {
    written.push(Object.keys(stream.kept.positions).length);
    return undefined;
  }, 1);
  await heard('j');
  // While there is more to handle nothing is written: what is behind an older position is only handled again.
  expect(written).toEqual(letters.map(() => 0));
  await stop();
  expect(batches).toHaveLength(letters.length);
  expect(Object.keys(stream.kept.positions)).toHaveLength(1);
});

/** A stream each of whose changes is a batch of its own, and sends a message of a first attempt. */
async function newAttempts() {
  const stream = await newStream();
  const queue = createMemoryQueue({ visibilitySeconds: 30, holdsPosition: true });
  const start = () =>
    stream.poll((names) => {
      sendMessages(
        queue,
        names.map((body) => ({ body, delaySeconds: 0 })),
      );
      return undefined;
    }, 1);
  /** Makes the attempts of these changes, whose messages were received before. */
  const received = new Map<string, string>();
  const attempt = (names: string[]) => {
    for (const { body, receiptHandle } of receiveMessages(queue, 100)) received.set(body, receiptHandle);
    for (const name of names) deleteMessage(queue, received.get(name) as string);
  };
  /** What the next process handles: every change above the kept position. */
  const handledAgain = async () => {
    const next = stream.poll(undefined, 1);
    await next.heard('j');
    return next.batches.flat();
  };
  return { stream, start, attempt, handledAgain };
}

it.concurrent('keeps no position above a change whose first attempt is not made', async () => {
  const { stream, start, attempt, handledAgain } = await newAttempts();
  await stream.put(letters);
  const { heard, stop } = start();
  await heard('j');
  attempt([...'abdefghij']);
  await stop();
  expect(await handledAgain()).toEqual([...'cdefghij']);
});

it.concurrent('keeps nothing where no first attempt is made', async () => {
  const { stream, start } = await newAttempts();
  await stream.put(letters);
  const { heard, stop } = start();
  await heard('j');
  await stop();
  expect(stream.kept.positions).toEqual({});
});

it.concurrent('keeps the position at rest once the last first attempt is made', async () => {
  const { stream, start, attempt } = await newAttempts();
  await stream.put(letters);
  const { heard } = start();
  await heard('j');
  attempt(letters);
  await until('a position is kept', () => Object.keys(stream.kept.positions).length === 1);
});

it.concurrent('moves the kept position on while there is always a first attempt to be made', async () => {
  const { stream, start, attempt, handledAgain } = await newAttempts();
  const { heard, stop } = start();
  for (const [nth, name] of letters.entries()) {
    await stream.put([name]);
    await heard(name);
    attempt(letters.slice(nth - 1, nth));
  }
  await stop();
  expect(await handledAgain()).toEqual(['j']);
});

it.concurrent('lets a call under way end before it has stopped', async () => {
  const stream = await newStream();
  let go = () => {};
  const gate = new Promise<undefined>((resolve) => {
    go = () => resolve(undefined);
  });
  await stream.put(['a']);
  const { stop, heard, batches } = stream.poll(() => gate);
  await heard('a');
  let hasStopped = false;
  const stopped = stop().then(() => {
    hasStopped = true;
  });
  await stream.put(['b']);
  expect(hasStopped).toBe(false);
  go();
  await stopped;
  expect(batches).toEqual([['a']]);
  expect(Object.keys(stream.kept.positions)).toHaveLength(1);
});

it.each([
  ['goes on where it was when a fault of the engine passes', 'AccessDeniedException', ['new']],
  ['begins anew when the engine has forgotten where it was', 'TrimmedDataAccessException', ['old', 'new']],
])('%s', async (_, error, expected) => {
  const stream = await newStream();
  await stream.put(['old']);
  const first = stream.poll();
  await first.heard('old');
  await first.stop();
  await stream.put(['new']);
  const second = stream.poll(undefined, 100, await faultyEngine(error));
  await second.heard('new');
  expect(second.batches.flat()).toEqual(expected);
});

it.concurrent('asks for the shards once, and when one ends again until it is told', async () => {
  const stream = await newStream();
  let ends = false;
  let asked = 0;
  const ok = (body: object) => ({ status: 200, body });
  const engine = await alteredEngine((operation, { ShardId, ShardIterator }) => {
    if (operation === 'DescribeStream') {
      asked += 1;
      if (asked === 2) return { status: 400, body: { __type: 'com.amazonaws.dynamodb#AccessDeniedException' } };
      const names = ['steady', 'ending', ...(asked > 2 ? ['new'] : [])];
      return ok({ StreamDescription: { Shards: names.map((name) => ({ ShardId: name })) } });
    }
    // A shard's iterator is its name until it has given its record.
    if (operation === 'GetShardIterator') return ok({ ShardIterator: ShardId });
    if (operation !== 'GetRecords') return undefined;
    if (ShardIterator === 'ending' && ends) return ok({ Records: [] });
    if (ShardIterator !== 'new') return ok({ Records: [], NextShardIterator: ShardIterator });
    const dynamodb = { SequenceNumber: '1', Keys: { pk: { S: 'a' } }, NewImage: { kind: { S: 'task' } } };
    return ok({ Records: [{ dynamodb }], NextShardIterator: 'rest of the new' });
  });
  const { heard, batches, pauses } = stream.poll(undefined, 100, engine);
  await stream.waited(6);
  expect([asked, pauses]).toEqual([1, []]);
  ends = true;
  stream.bell.ring();
  await heard('a');
  await stream.waited(stream.waits.length + 6);
  expect([asked, pauses, batches]).toEqual([3, [5_000], [['a']]]);
});

it.concurrent('reads ever more rarely while nothing changes, and at once when the bell rings', async () => {
  const stream = await newStream();
  const { heard } = stream.poll();
  await stream.waited(7);
  expect(stream.waits.slice(0, 7)).toEqual([50, 100, 200, 400, 800, 1000, 1000]);
  const before = stream.waits.length;
  stream.bell.ring();
  await stream.waited(before + 1);
  expect(stream.waits[before]).toBe(50);
  await stream.waited(before + 6);
  await stream.put(['a']);
  await heard('a');
  await until('it waits no longer than at first', () => stream.waits.lastIndexOf(50) > before);
});

it.each([
  ['no file', undefined, {}],
  ['an empty file, as a loss of power can leave it', '', {}],
  ['half a file', '{"shard-1":"12', {}],
  ['a whole file', '{"shard-1":"123"}', { 'shard-1': '123' }],
])('has the positions of %s', (_, text, positions) => {
  expect(positionsIn(text)).toEqual(positions);
});
