import {
  DescribeStreamCommand,
  DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
  ListStreamsCommand,
} from '@aws-sdk/client-dynamodb-streams';
import type { AttributeValue, DynamoDBRecord } from 'aws-lambda';
import { clientConfig } from '../../../lib/aws/client-config.ts';
import type { QuietChange } from '../../../lib/names/consumers.ts';
import type { Changes } from '../table/changes/changes.ts';
import type { PositionStore } from './stream-positions.ts';

/** The stream of a table that another engine has, and where its positions are stored. */
export type OtherStream = {
  endpoint: string;
  tableName: string;
  /** The kinds of items whose changes are wanted. The engine records the changes of all items. */
  kinds: readonly string[];
  /** The kinds of which only new items are wanted. */
  onlyNew?: readonly string[];
  /** The changes of such items that are not wanted. */
  quiet?: QuietChange;
  positions: PositionStore;
};

/** How often an engine is asked for new records while there are none, in milliseconds. */
const askEveryMs = 200;

/** A shard that is being read. `last` is the sequence number of the last record that was read. */
type Shard = { id: string; iterator: string | undefined; last: string | undefined };

/** A record that was read, with its shard. */
type Read = { shard: string; number: string; record: DynamoDBRecord };

/**
 * Reads the changes of a table from the stream of another engine, such as DynamoDB Local. The engine does not notify, so its
 * stream is polled.
 */
export function createStreamChanges({
  endpoint,
  tableName,
  kinds,
  onlyNew = [],
  quiet,
  positions,
}: OtherStream): Changes {
  const client = new DynamoDBStreamsClient(clientConfig(endpoint));
  const stored = positions.read();
  const shards = new Map<string, Shard>();
  /** The records that were read and not forgotten, in the order in which they were read. */
  let known: Read[] = [];
  let streamArn: string | undefined;

  /** Adds the shards that are new, and the shards that an earlier start has not finished. */
  async function findShards(): Promise<void> {
    streamArn ??= (await client.send(new ListStreamsCommand({ TableName: tableName }))).Streams?.[0]?.StreamArn;
    let ExclusiveStartShardId: string | undefined;
    do {
      const command = new DescribeStreamCommand({ StreamArn: streamArn, ExclusiveStartShardId });
      const { Shards = [], LastEvaluatedShardId } = (await client.send(command)).StreamDescription ?? {};
      for (const { ShardId: id = '' } of Shards)
        if (!shards.has(id)) shards.set(id, { id, iterator: await iteratorAt(id, stored[id]), last: stored[id] });
      ExclusiveStartShardId = LastEvaluatedShardId;
    } while (ExclusiveStartShardId);
  }

  async function iteratorAt(ShardId: string, SequenceNumber: string | undefined): Promise<string | undefined> {
    const shard = { StreamArn: streamArn, ShardId };
    const oldest = { ...shard, ShardIteratorType: 'TRIM_HORIZON' as const };
    const next = SequenceNumber && { ...shard, ShardIteratorType: 'AFTER_SEQUENCE_NUMBER' as const, SequenceNumber };
    return (await client.send(new GetShardIteratorCommand(next || oldest))).ShardIterator;
  }

  /** Reads the next page of a shard. Returns whether it had records. */
  async function readPage(shard: Shard): Promise<boolean> {
    if (!shard.iterator) return false;
    try {
      const { Records = [], NextShardIterator } = await client.send(
        new GetRecordsCommand({ ShardIterator: shard.iterator }),
      );
      // Without a next one the shard is closed: it stays known, so that it is not read again.
      shard.iterator = NextShardIterator;
      for (const record of Records as DynamoDBRecord[]) {
        shard.last = record.dynamodb?.SequenceNumber;
        const isNew = record.eventName === 'INSERT' && isOfKind(record, onlyNew);
        if (isNew || (isOfKind(record, kinds) && !isQuiet(record, quiet)))
          known.push({ shard: shard.id, number: shard.last as string, record });
      }
      return Records.length > 0;
    } catch (error) {
      // The engine has deleted the records up to this position, so the shard is read from its oldest record. After any
      // other error the position stays: reading from the oldest record would repeat a day of handled changes.
      if ((error as Error).name === 'TrimmedDataAccessException') shard.last = undefined;
      shard.iterator = await iteratorAt(shard.id, shard.last);
      throw error;
    }
  }

  async function readAll(): Promise<void> {
    if ([...shards.values()].every(({ iterator }) => iterator === undefined)) await findShards();
    let hadRecords = false;
    do {
      hadRecords = false;
      for (const shard of [...shards.values()]) hadRecords = (await readPage(shard)) || hadRecords;
      // A page may have no record of these kinds, and be followed by one that has.
    } while (hadRecords && known.length === 0);
  }

  return {
    after: async (position, limit) => {
      const next = () => known.slice(known.findIndex(({ number }) => number === position) + 1);
      if (next().length === 0) await readAll();
      return next()
        .slice(0, limit)
        .map(({ record }) => asSentToLambda(record));
    },
    forget: (upTo) => {
      const done = known.findIndex(({ number }) => number === upTo) + 1;
      for (const { shard, number } of known.slice(0, done)) stored[shard] = number;
      known = known.slice(done);
      positions.write(stored);
    },
    onRecorded: (listener) => {
      const timer = setInterval(listener, askEveryMs).unref();
      return () => clearInterval(timer);
    },
  };
}

type Image = Record<string, AttributeValue>;

/** Returns a record as Lambda gets it: with the time in seconds, which the SDK reads as a date, and with all types. */
function asSentToLambda({ dynamodb, ...record }: DynamoDBRecord): DynamoDBRecord {
  const { ApproximateCreationDateTime: madeAt, OldImage, NewImage, ...change } = dynamodb ?? {};
  return {
    ...record,
    eventSource: 'aws:dynamodb',
    dynamodb: {
      ...change,
      ...(madeAt && { ApproximateCreationDateTime: Number(madeAt) / 1000 }),
      ...(OldImage && { OldImage: withTypes(OldImage) }),
      ...(NewImage && { NewImage: withTypes(NewImage) }),
    },
  };
}

/** Returns an image with the type of each value. DynamoDB Local leaves out the type of an empty map. */
function withTypes(image: Image): Image {
  return Object.fromEntries(Object.entries(image).map(([name, value]) => [name, typed(value)]));
}

function typed(value: AttributeValue): AttributeValue {
  if (value.M) return { M: withTypes(value.M) };
  if (value.L) return { L: value.L.map(typed) };
  return Object.keys(value).length === 0 ? { M: {} } : value;
}

function isOfKind({ dynamodb }: DynamoDBRecord, kinds: readonly string[]): boolean {
  return kinds.includes((dynamodb?.NewImage ?? dynamodb?.OldImage)?.kind?.S ?? '');
}

function isQuiet({ eventName, dynamodb: { NewImage } = {} }: DynamoDBRecord, quiet: QuietChange | undefined): boolean {
  if (!quiet || eventName !== 'MODIFY') return false;
  return NewImage?.kind?.S === quiet.kind && NewImage[quiet.attribute]?.S === quiet.value;
}
