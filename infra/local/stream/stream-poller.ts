import type { DynamoDBBatchResponse, DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import { callLimitsOf } from '../../../lib/aws/call-limits.ts';
import { callEngine, closeEngineClient, createEngineClient } from '../engine/engine-client.ts';
import { contextOf, type Handler } from '../functions.ts';
import { type Stop, type Wait, waited } from '../queues/queue-poller.ts';
import { type HandledBatch, type RecordBatch, removeFinished, runForBatches } from '../queues/record-batches.ts';
import { type ChangeSignal, signalChange, waitForChange } from './change-signal.ts';
import type { PositionStore } from './stream-positions.ts';

/** An event source mapping of the table's stream: the stream, the handler, the settings of the consumer. */
export type StreamMapping = {
  name: string;
  endpoint: string;
  tableName: string;
  handler: Handler;
  kinds: readonly string[];
  batchSize: number;
  timeoutSeconds: number;
  positions: PositionStore;
  /** Signals that the stream may have new records. */
  signal: ChangeSignal;
};

/**
 * How long a reader at the end of its shard waits before it reads again, in milliseconds, unless a change is signalled.
 * The wait doubles after each empty read, up to `most`. It delays only changes by other processes, which signal nothing.
 */
const idleMs = { least: 50, most: 1_000 };

/** How many records a reader requests at once, which is the maximum. A smaller page is the last one. */
const pageSize = 1000;

/** The wait before the shards are listed again, if listing failed or no shard is open. */
const listShardsAgainMs = 5_000;

/**
 * Does the work of Lambda's event source mapping for the table's stream. Reads every shard from its last position, gives
 * the changes of the listed kinds to the handler in order, and advances the position after they were handled. It retries
 * a failed change and those after it, with increasing delays. The stored position, from which the next start reads,
 * stays behind records whose first attempts are not finished; see `record-batches.ts`.
 *
 * @param waitFor waits after an error
 * @param waitForSignal waits for the next change at the end of a shard
 * @returns a function that stops polling
 */
export function pollStream(
  mapping: StreamMapping,
  waitFor: Wait = waited,
  waitForSignal: typeof waitForChange = waitForChange,
): Stop {
  const client = createEngineClient(mapping.endpoint, callLimitsOf('dynamodb', mapping.endpoint));
  const call = async <Output>(operation: string, input: object) =>
    (await callEngine(client, `DynamoDBStreams_20120810.${operation}`, input)) as Output;
  const stopping = new AbortController();
  const stored = mapping.positions.read();
  /** The position from which each shard is read. The stored position is behind it while first attempts are unfinished. */
  const positions = { ...stored };
  const handled = new Map<string, HandledBatch[]>();
  let batchNumber = 0;
  /** The number of changes that were handled since the positions were stored. */
  let handledSinceStored = 0;
  const seen = new Set<string>();
  const readers = new Set<Promise<void>>();
  const watcher = watch();
  return async () => {
    stopping.abort();
    signalChange(mapping.signal);
    await watcher;
    await Promise.all(readers);
    storePositions();
    closeEngineClient(client);
  };

  /** Reads all shards. Lists them again only when one of them ends, because the engine reads the whole stream to list them. */
  async function watch(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        await readNewShards();
        if (readers.size > 0) await Promise.race(readers);
        else await wait(listShardsAgainMs);
      } catch (error) {
        report(error);
        await wait(listShardsAgainMs);
      }
    }
  }

  async function readNewShards(): Promise<void> {
    const { Streams } = await call<{ Streams: [{ StreamArn: string }] }>('ListStreams', {
      TableName: mapping.tableName,
    });
    const { StreamArn } = Streams[0];
    const { StreamDescription } = await call<{ StreamDescription: { Shards?: { ShardId: string }[] } }>(
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
        const seenChanges = mapping.signal.changes;
        const { Records = [], NextShardIterator } = await call<{
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
          await waitForSignal(mapping.signal, seenChanges, idle);
          idle = mapping.signal.changes === seenChanges ? Math.min(2 * idle, idleMs.most) : idleMs.least;
        }
        // Not after every batch: a start from an older position only handles changes again.
        if (handledSinceStored >= pageSize || Records.length === 0) storePositions();
      } catch (error) {
        report(error);
        iterator = undefined;
        // The engine has deleted the records up to this position, so the shard is read from its oldest record. After any
        // other error the position stays: reading from the oldest record would delay new changes by a day of handled ones.
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
    return (await call<{ ShardIterator: string }>('GetShardIterator', next || oldest)).ShardIterator;
  }

  /** Handles records in batches, up to the first failed record. Returns whether all were handled. */
  async function handleAll(records: DynamoDBRecord[], shard: string): Promise<boolean> {
    for (let at = 0; at < records.length && !stopping.signal.aborted; at += mapping.batchSize) {
      const part = records.slice(at, at + mapping.batchSize);
      const batch: RecordBatch = { shard, number: batchNumber++, messages: 0 };
      const failed = await runForBatches([batch], () =>
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
        handledSinceStored += done.length;
      }
      if (failed !== undefined) return false;
    }
    return true;
  }

  /** Stores the positions up to which all first attempts are finished. */
  function storePositions(): void {
    handledSinceStored = 0;
    let moved = false;
    for (const [shard, batches] of handled) {
      const { open, done } = removeFinished(batches);
      handled.set(shard, open);
      if (done === undefined) continue;
      stored[shard] = done;
      moved = true;
    }
    if (moved) mapping.positions.write(stored);
  }

  /** Gives records to the handler. Returns the sequence number of the first failed record, if any. */
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

  /** Prints an error, after which the poller retries. While it stops, the engine may end first, so errors are expected. */
  function report(error: unknown): void {
    if (!stopping.signal.aborted) console.error(`${mapping.name} cannot read the table's stream:`, error);
  }

  function wait(milliseconds: number): Promise<void> {
    return waitFor(milliseconds, stopping.signal);
  }
}

function isOfKind({ dynamodb }: DynamoDBRecord, kinds: readonly string[]): boolean {
  return kinds.includes((dynamodb?.NewImage ?? dynamodb?.OldImage)?.kind?.S ?? '');
}
