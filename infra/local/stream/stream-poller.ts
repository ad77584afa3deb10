import type { DynamoDBBatchResponse, DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import { callLimitsOf } from '../../../lib/aws/call-limits.ts';
import { openEngineClient } from '../engine/engine-client.ts';
import { contextOf, type Handler } from '../functions.ts';
import { type Stop, type Wait, waited } from '../queues/queue-poller.ts';
import { type HandledBatch, type RecordBatch, sendingFor, settle } from '../queues/record-batches.ts';
import type { Bell } from './change-signal.ts';
import type { KeptPositions } from './stream-positions.ts';

/** What is polled for whom: a consumer's row, the table's stream, the handler, and where the position is kept. */
export type StreamMapping = {
  name: string;
  endpoint: string;
  tableName: string;
  handler: Handler;
  kinds: readonly string[];
  batchSize: number;
  timeoutSeconds: number;
  positions: KeptPositions;
  /** Rings when there may be changes, to be looked for at once. */
  bell: Bell;
};

/**
 * How long a reader that has seen all waits before it reads again, in milliseconds, unless the bell rings: twice as long
 * each time that there is nothing, up to the most. Only changes by other processes wait for it.
 */
const idleMs = { least: 50, most: 1_000 };

/** So many changes are asked for at once, the most that there are; where fewer come, they are all. */
const pageSize = 1000;

/** How long it waits before it asks for the shards again where the engine could not say, or named none that is open. */
const shardsAgainMs = 5_000;

/**
 * Lambda's part for the table's stream: reads every shard from where it was left, gives the changes of the listed kinds
 * to the handler in order, and moves on once they are handled; from a failed one on they come again, a little later
 * each time. The position that is kept for the next start waits for the first attempts; see `first-attempts.ts`.
 *
 * @param waitFor how time passes after a fault
 */
export function pollStream(mapping: StreamMapping, waitFor: Wait = waited): Stop {
  const client = openEngineClient(mapping.endpoint, callLimitsOf('dynamodb', mapping.endpoint));
  const ask = async <Output>(operation: string, input: object) =>
    (await client.call(`DynamoDBStreams_20120810.${operation}`, input)) as Output;
  const stopping = new AbortController();
  const kept = mapping.positions.read();
  /** Where each shard is read from. The kept positions are behind while first attempts are still to be made. */
  const positions = { ...kept };
  const handled = new Map<string, HandledBatch[]>();
  /** How many changes were handled since the positions were kept. */
  let handledSince = 0;
  const seen = new Set<string>();
  const readers = new Set<Promise<void>>();
  const watcher = watch();
  return async () => {
    stopping.abort();
    mapping.bell.ring();
    await watcher;
    await Promise.all(readers);
    keep();
    client.close();
  };

  /** Reads all shards. They are asked for again when one of them ends, because the engine reads the whole stream to answer. */
  async function watch(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        await readNewShards();
        if (readers.size > 0) await Promise.race(readers);
        else await wait(shardsAgainMs);
      } catch (error) {
        report(error);
        await wait(shardsAgainMs);
      }
    }
  }

  async function readNewShards(): Promise<void> {
    const { Streams } = await ask<{ Streams: [{ StreamArn: string }] }>('ListStreams', {
      TableName: mapping.tableName,
    });
    const { StreamArn } = Streams[0];
    const { StreamDescription } = await ask<{ StreamDescription: { Shards?: { ShardId: string }[] } }>(
      'DescribeStream',
      {
        StreamArn,
      },
    );
    for (const { ShardId } of StreamDescription.Shards ?? []) {
      if (seen.has(ShardId)) continue;
      seen.add(ShardId);
      const reader = readShard(StreamArn, ShardId).finally(() => readers.delete(reader));
      readers.add(reader);
    }
  }

  async function readShard(StreamArn: string, ShardId: string): Promise<void> {
    let iterator: string | undefined;
    let failures = 0;
    let idle = idleMs.least;
    while (!stopping.signal.aborted) {
      try {
        iterator ??= await iteratorAt(StreamArn, ShardId);
        const rings = mapping.bell.rings();
        const { Records = [], NextShardIterator } = await ask<{
          Records?: DynamoDBRecord[];
          NextShardIterator?: string;
        }>('GetRecords', { ShardIterator: iterator, Limit: pageSize });
        const allHandled = await handleAll(Records, ShardId);
        failures = allHandled ? 0 : failures + 1;
        iterator = allHandled ? NextShardIterator : undefined;
        // Only a missing next iterator closes a shard.
        if (allHandled && !NextShardIterator) return;
        if (!allHandled) await wait(Math.min(10_000, 100 * 2 ** failures));
        else if (Records.length < pageSize) {
          if (Records.length > 0) idle = idleMs.least;
          await mapping.bell.wait(rings, idle);
          idle = mapping.bell.rings() === rings ? Math.min(2 * idle, idleMs.most) : idleMs.least;
        }
        // Kept at rest, and now and then: from an older position on, changes are only handled again.
        if (handledSince >= pageSize || Records.length === 0) keep();
      } catch (error) {
        report(error);
        iterator = undefined;
        // A position that the engine has forgotten is behind everything it still has. Any other fault passes, and to
        // begin anew for it would have what is new wait behind a day of what was handled.
        if ((error as Error).name === 'TrimmedDataAccessException') delete positions[ShardId];
        await wait(500);
      }
    }
  }

  async function iteratorAt(StreamArn: string, ShardId: string): Promise<string> {
    const SequenceNumber = positions[ShardId];
    const shard = { StreamArn, ShardId };
    const oldest = { ...shard, ShardIteratorType: 'TRIM_HORIZON' as const };
    const next = SequenceNumber && { ...shard, ShardIteratorType: 'AFTER_SEQUENCE_NUMBER' as const, SequenceNumber };
    return (await ask<{ ShardIterator: string }>('GetShardIterator', next || oldest)).ShardIterator;
  }

  /** Hands records over, a batch at a time; false from the first that failed on. */
  async function handleAll(records: DynamoDBRecord[], shard: string): Promise<boolean> {
    for (let at = 0; at < records.length && !stopping.signal.aborted; at += mapping.batchSize) {
      const part = records.slice(at, at + mapping.batchSize);
      const batch: RecordBatch = { messages: 0 };
      const failed = await sendingFor([batch], () =>
        handleBatch(part.filter((record) => isOfKind(record, mapping.kinds))),
      );
      const done =
        failed === undefined
          ? part
          : part.slice(
              0,
              part.findIndex((one) => one.dynamodb?.SequenceNumber === failed),
            );
      const position = done.at(-1)?.dynamodb?.SequenceNumber;
      if (position) {
        positions[shard] = position;
        const batches = handled.get(shard) ?? [];
        batches.push({ batch, position });
        handled.set(shard, batches);
        handledSince += done.length;
      }
      if (failed !== undefined) return false;
    }
    return true;
  }

  /** Keeps the positions below which no first attempt is left to be made. */
  function keep(): void {
    handledSince = 0;
    let moved = false;
    for (const [shard, batches] of handled) {
      const { open, done } = settle(batches);
      handled.set(shard, open);
      if (done === undefined) continue;
      kept[shard] = done;
      moved = true;
    }
    if (moved) mapping.positions.write(kept);
  }

  /** The sequence number of the first record that failed, if one did. */
  async function handleBatch(records: DynamoDBRecord[]): Promise<string | undefined> {
    if (records.length === 0) return undefined;
    const event: DynamoDBStreamEvent = {
      Records: records.map((record) => ({ ...record, eventSource: 'aws:dynamodb' })),
    };
    const result = (await mapping.handler(
      event,
      contextOf(mapping.name, mapping.timeoutSeconds),
    )) as DynamoDBBatchResponse;
    const numbers = result.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);
    return numbers.sort((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1))[0];
  }

  /** Says what went wrong; it is tried again. While stopping, the engine may go first. */
  function report(error: unknown): void {
    if (!stopping.signal.aborted) console.error(`${mapping.name} could not be fed from the table's stream:`, error);
  }

  function wait(milliseconds: number): Promise<void> {
    return waitFor(milliseconds, stopping.signal);
  }
}

function isOfKind({ dynamodb }: DynamoDBRecord, kinds: readonly string[]): boolean {
  return kinds.includes((dynamodb?.NewImage ?? dynamodb?.OldImage)?.kind?.S ?? '');
}
