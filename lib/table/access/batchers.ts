import { inBatches } from '../../aws/in-batches.ts';
import { type BatchWrite, batchWriteLimit, writeBatch } from './batch-writes.ts';
import type { TableContext } from './client.ts';
import type { Key } from './keys.ts';
import { batchReadLimit, getEach } from './reads.ts';
import type { Item } from './write.ts';

/**
 * The functions that join the calls of one turn of the event loop into batches, for one table. Each is created at its
 * first use. Modules that join other calls declare theirs.
 */
export interface Batchers {
  writeItem?: (write: BatchWrite) => Promise<unknown>;
  readItem?: (key: Key) => Promise<Item | undefined>;
}

/** The part of a context that batches need. */
export type BatchingContext = TableContext & { batchers: Batchers };

/**
 * Puts an item, whether it exists or not. Puts and deletions in one turn of the event loop are batched; two different ones
 * with the same key are made one after the other.
 *
 * @throws the errors of `writeBatch`
 */
export function putInBatch(context: BatchingContext, item: Item): Promise<void> {
  return writeInBatch(context, { PutRequest: { Item: item } });
}

/**
 * Deletes an item, whether it exists or not, in batches as `putInBatch`.
 *
 * @throws the errors of `writeBatch`
 */
export function deleteInBatch(context: BatchingContext, key: Key): Promise<void> {
  return writeInBatch(context, { DeleteRequest: { Key: key } });
}

async function writeInBatch({ table, batchers }: BatchingContext, write: BatchWrite): Promise<void> {
  batchers.writeItem ??= inBatches(
    batchWriteLimit,
    async (writes: BatchWrite[]): Promise<undefined[]> => {
      await writeBatch(table, writes);
      return [];
    },
    (one) => {
      const { pk, sk } = 'PutRequest' in one ? one.PutRequest.Item : one.DeleteRequest.Key;
      return `${pk} ${sk}`;
    },
  );
  await batchers.writeItem(write);
}

/** Returns an item, strongly consistent. Reads in one turn of the event loop are batched. */
export function readInBatch({ table, batchers }: BatchingContext, key: Key): Promise<Item | undefined> {
  batchers.readItem ??= inBatches(
    batchReadLimit,
    (keys: Key[]) => getEach(table, keys),
    ({ pk, sk }) => `${pk} ${sk}`,
  );
  return batchers.readItem(key);
}
