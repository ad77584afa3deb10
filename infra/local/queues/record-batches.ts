import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * Tracks which stream records have unfinished first attempts, so that the stored stream position stays below them.
 *
 * The queues are in memory, and a first attempt is not written to the table before it is made. If the process is killed,
 * messages of first attempts are lost. The next process sends them again by handling their stream records again. So the
 * stored position must stay below the first record that still has such a message.
 *
 * A message belongs to the batch of records whose handler call sent it. A message that is sent while other messages are
 * handled belongs to the oldest of their batches: a consumer sends a message on before it deletes the received one. The
 * oldest batch of a shard is enough, because the stored position stays below it and all later ones. So a message that is
 * sent on again and again has no more batches than there are shards. A batch is finished when each of its messages is
 * deleted or is a dead letter.
 */

/** A batch of stream records, with the number of its messages of first attempts that are in the queues. */
export type RecordBatch = {
  readonly shard: string;
  /** The batches of a shard are numbered in the order of the stream. */
  readonly number: number;
  messages: number;
};

/** Returns the oldest batch of each shard. */
export function oldestBatches(batches: Iterable<RecordBatch>): readonly RecordBatch[] {
  const oldest = new Map<string, RecordBatch>();
  for (const batch of batches)
    if (batch.number <= (oldest.get(batch.shard)?.number ?? Number.POSITIVE_INFINITY)) oldest.set(batch.shard, batch);
  return [...oldest.values()];
}

const currentBatches = new AsyncLocalStorage<readonly RecordBatch[]>();

/** Runs a handler call. The messages of first attempts that it sends belong to these batches. */
export function runForBatches<Result>(batches: readonly RecordBatch[], call: () => Result): Result {
  return currentBatches.run(batches, call);
}

/** Returns the batches to which a message belongs that is sent now; none outside of a handler call. */
export function currentRecordBatches(): readonly RecordBatch[] {
  return currentBatches.getStore() ?? [];
}

/** A handled batch of a shard, with the position at its end. */
export type HandledBatch = { batch: RecordBatch; position: string };

/**
 * Removes the finished batches of a shard. An open batch takes over the position of a finished batch that follows it, so
 * that the list contains open batches only, even if the first one stays open for long.
 *
 * @param batches oldest first
 * @returns the open batches, and the position up to which all batches are finished, `undefined` if none before the first
 *   open batch is
 */
export function removeFinished(batches: readonly HandledBatch[]): { open: HandledBatch[]; done: string | undefined } {
  const open: HandledBatch[] = [];
  let done: string | undefined;
  for (const { batch, position } of batches) {
    const last = open.at(-1);
    if (batch.messages > 0) open.push({ batch, position });
    else if (last) last.position = position;
    else done = position;
  }
  return { open, done };
}
