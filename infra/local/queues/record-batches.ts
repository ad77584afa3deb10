import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * What holds back the stream position that is kept for the next start.
 *
 * The queues are in memory, and a first attempt need not be in the table before it is made. A killed process loses the
 * messages of first attempts; the next one sends them again by handling the records again that they come from. So the
 * kept position must stay below the first record that has such a message left.
 *
 * The rule: a message belongs to the batch of records in whose handler call it was sent. A message that is sent while
 * other messages are handled belongs to their batches: a consumer passes a message on before the message that it has is
 * deleted. A batch is done when all of its messages are deleted or are dead letters.
 */

/** A batch of stream records, and how many messages of first attempts it has left. */
export type RecordBatch = { messages: number };

const calls = new AsyncLocalStorage<readonly RecordBatch[]>();

/** Runs a handler call. The messages of first attempts that it sends belong to these batches. */
export function sendingFor<Result>(batches: readonly RecordBatch[], call: () => Result): Result {
  return calls.run(batches, call);
}

/** Returns the batches that a message belongs to which is sent now; none outside of a handler call. */
export function recordBatchesOfCall(): readonly RecordBatch[] {
  return calls.getStore() ?? [];
}

/** A batch of a shard that was handled, and the position at its end. */
export type HandledBatch = { batch: RecordBatch; position: string };

/**
 * Removes the batches of a shard that are done. The position of one that follows an open batch goes to the open batch, so
 * only as many remain as are open, however long the first of them takes.
 *
 * @param batches oldest first
 * @returns the open batches, and the position up to which all is done; `undefined` where that is no further than before
 */
export function settle(batches: readonly HandledBatch[]): { open: HandledBatch[]; done: string | undefined } {
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
