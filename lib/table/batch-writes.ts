import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import { inBatches } from '../batching/in-batches.ts';
import type { Table } from './client.ts';
import type { Key } from './keys.ts';
import { batchRetries, retryWithJitter } from './retry.ts';
import { asUnavailable } from './unavailable.ts';
import type { Item } from './write.ts';

/** A put or a deletion in a batch: none of them has a condition, and none waits for another. */
export type BatchWrite = { PutRequest: { Item: Item } } | { DeleteRequest: { Key: Key } };

/** DynamoDB takes no more writes in one batch. */
export const batchWriteLimit = 25;

/**
 * Carries out a batch of at most `batchWriteLimit` writes to different items. What DynamoDB leaves unprocessed is sent
 * again, with full jitter.
 *
 * @throws `ApiError` `unavailable` when some stay unprocessed, or the table cannot be reached; the others are written
 */
export async function writeBatch(table: Table, writes: readonly BatchWrite[]): Promise<void> {
  if (writes.length === 0) return;
  let left = writes;
  const attempt = async () => {
    left = await tryBatch(table, left);
    return left.length === 0 ? { result: undefined } : undefined;
  };
  await retryWithJitter(table, attempt, batchRetries);
}

async function tryBatch({ client, name }: Table, writes: readonly BatchWrite[]): Promise<BatchWrite[]> {
  try {
    const command = new BatchWriteCommand({ RequestItems: { [name]: [...writes] } });
    return ((await client.send(command)).UnprocessedItems?.[name] ?? []) as BatchWrite[];
  } catch (error) {
    throw asUnavailable(error);
  }
}

/**
 * Returns a function that puts an item, whatever is there. Those of one turn of the event loop go together, and of items with
 * the same key the first one.
 *
 * @throws what `writeBatch` throws
 */
export function openPuts(table: Table): (item: Item) => Promise<unknown> {
  return inBatches(
    batchWriteLimit,
    async (items: Item[]): Promise<undefined[]> => {
      await writeBatch(
        table,
        items.map((Item) => ({ PutRequest: { Item } })),
      );
      return [];
    },
    ({ pk, sk }) => `${pk} ${sk}`,
  );
}
