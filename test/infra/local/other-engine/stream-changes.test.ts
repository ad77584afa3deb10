import {
  DescribeStreamCommand,
  DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
  ListStreamsCommand,
} from '@aws-sdk/client-dynamodb-streams';
import { mockClient } from 'aws-sdk-client-mock';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createStreamChanges } from '../../../../infra/local/other-engine/stream-changes.ts';
import type { Positions } from '../../../../infra/local/other-engine/stream-positions.ts';

/** The records of each shard of a simulated stream, by shard id: the sequence number and the kind of the item. */
type Shards = Record<string, { records: [number: string, kind: string, status?: string][]; closed?: boolean }>;

/** Attributes with empty maps, as DynamoDB Local has them in its stream. */
const untyped = { empty: {}, list: { L: [{}, { S: 'a' }] }, map: { M: { inner: {} } } };

/** Reads a simulated stream, in pages of two records, from the stored positions. */
function readStream(shards: Shards, stored: Positions = {}) {
  const streams = mockClient(DynamoDBStreamsClient);
  onTestFinished(() => streams.restore());
  streams.on(ListStreamsCommand).resolves({ Streams: [{ StreamArn: 'stream' }] });
  streams.on(DescribeStreamCommand).callsFake(() => ({
    StreamDescription: { Shards: Object.keys(shards).map((ShardId) => ({ ShardId })) },
  }));
  streams.on(GetShardIteratorCommand).callsFake(({ ShardId, SequenceNumber }) => {
    const records = shards[ShardId]?.records ?? [];
    const from = SequenceNumber ? records.findIndex(([number]) => number === SequenceNumber) + 1 : 0;
    return { ShardIterator: `${ShardId} ${from}` };
  });
  /** The errors of the next reads. */
  const failures: Error[] = [];
  streams.on(GetRecordsCommand).callsFake(({ ShardIterator }) => {
    const failure = failures.shift();
    if (failure) throw failure;
    const [id = '', from] = ShardIterator.split(' ');
    const { records, closed } = shards[id] as Shards[string];
    const page = records.slice(Number(from), Number(from) + 2);
    const next = Number(from) + page.length;
    return {
      Records: page.map(([SequenceNumber, kind, status]) => ({
        eventName: status === undefined ? 'INSERT' : 'MODIFY',
        dynamodb: {
          ApproximateCreationDateTime: new Date(1_700_000_000_500),
          SequenceNumber,
          NewImage: { kind: { S: kind }, ...(status && { status: { S: status } }), ...untyped },
          ...(status && { OldImage: untyped }),
        },
      })),
      ...(!(closed && next === records.length) && { NextShardIterator: `${id} ${next}` }),
    };
  });
  const written: Positions[] = [];
  const positions = { read: () => ({ ...stored }), write: (now: Positions) => void written.push({ ...now }) };
  const quiet = { kind: 'task', attribute: 'status', value: 'running' };
  const stream = { endpoint: 'http://127.0.0.1:1', tableName: 't', kinds: ['task', 'execution'], quiet };
  const changes = createStreamChanges({ ...stream, positions });
  const after = async (position: string | undefined, limit = 10) =>
    (await changes.after(position, limit)).map(({ dynamodb }) => dynamodb?.SequenceNumber);
  return { changes, after, written, failures };
}

it('returns records as Lambda gets them: their time in seconds, and a type for the empty maps of DynamoDB Local', async () => {
  const { changes } = readStream({ shard: { records: [['1', 'task', 'open']] } });
  const of = { empty: { M: {} }, list: { L: [{ M: {} }, { S: 'a' }] }, map: { M: { inner: { M: {} } } } };
  expect(await changes.after(undefined, 1)).toEqual([
    {
      eventName: 'MODIFY',
      eventSource: 'aws:dynamodb',
      dynamodb: {
        ApproximateCreationDateTime: 1_700_000_000.5,
        SequenceNumber: '1',
        NewImage: { kind: { S: 'task' }, status: { S: 'open' }, ...of },
        OldImage: of,
      },
    },
  ]);
});

it('returns the records of the wanted kinds after a position, over pages without any', async () => {
  const records: [string, string][] = [
    ['1', 'agent'],
    ['2', 'agent'],
    ['3', 'task'],
    ['4', 'agent'],
    ['5', 'task'],
  ];
  const { after } = readStream({ a: { records } });
  expect(await after(undefined)).toEqual(['3']);
  expect(await after(undefined, 1)).toEqual(['3']);
  expect(await after('3')).toEqual(['5']);
  expect(await after('5')).toEqual([]);
});

it('leaves out quiet changes', async () => {
  const records: Shards[string]['records'] = [
    ['1', 'task'],
    ['2', 'task', 'running'],
    ['3', 'task', 'done'],
    ['4', 'execution', 'running'],
  ];
  const { after } = readStream({ a: { records } });
  expect(await after(undefined)).toEqual(['1']);
  expect(await after('1')).toEqual(['3', '4']);
});

it('reads records that come later, and shards that follow a closed one', async () => {
  const shards: Shards = { a: { records: [['1', 'task']] } };
  const { after } = readStream(shards);
  expect(await after(undefined)).toEqual(['1']);
  expect(await after('1')).toEqual([]);
  shards.a = { records: [...(shards.a?.records ?? []), ['2', 'task']], closed: true };
  shards.b = { records: [['3', 'task']] };
  expect(await after('1')).toEqual(['2']);
  expect(await after('2')).toEqual(['3']);
  expect(await after('3')).toEqual([]);
});

it('stores the positions of forgotten records, and reads after them at the next start', async () => {
  const shards: Shards = {
    a: {
      records: [
        ['1', 'task'],
        ['2', 'task'],
      ],
    },
    b: { records: [['3', 'task']] },
  };
  const first = readStream(shards);
  expect(await first.after(undefined)).toEqual(['1', '2', '3']);
  first.changes.forget('2');
  expect(first.written.at(-1)).toEqual({ a: '2' });
  expect(await first.after('3')).toEqual([]);
  const second = readStream(shards, first.written.at(-1));
  expect(await second.after(undefined)).toEqual(['3']);
});

it('reads a shard from its beginning if the engine has deleted its position, and from its position after other errors', async () => {
  const { after, failures } = readStream(
    {
      a: {
        records: [
          ['1', 'task'],
          ['2', 'task'],
        ],
      },
    },
    { a: '1' },
  );
  failures.push(Object.assign(new Error('expired'), { name: 'ExpiredIteratorException' }));
  await expect(after(undefined)).rejects.toThrow('expired');
  expect(await after(undefined)).toEqual(['2']);
  failures.push(Object.assign(new Error('trimmed'), { name: 'TrimmedDataAccessException' }));
  await expect(after('2')).rejects.toThrow('trimmed');
  expect(await after('2')).toEqual(['1', '2']);
});

it('asks for new records five times a second until it stops', () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { changes } = readStream({});
  const listener = vi.fn();
  const stop = changes.onRecorded(listener);
  vi.advanceTimersByTime(1_000);
  expect(listener).toHaveBeenCalledTimes(5);
  stop();
  vi.advanceTimersByTime(1_000);
  expect(listener).toHaveBeenCalledTimes(5);
});
