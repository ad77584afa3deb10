import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import type { Table } from './client.ts';
import type { Key } from './keys.ts';
import { batchRetries, retryWithJitter } from './retry.ts';
import { asUnavailable } from './unavailable.ts';
import type { Item } from './write.ts';

/** A put or a deletion in a batch. It has no condition and is applied independently of the others. */
export type BatchWrite = { PutRequest: { Item: Item } } | { DeleteRequest: { Key: Key } };

/** The maximum number of writes that DynamoDB takes in one batch. */
export const batchWriteLimit = 25;

/**
 * Sends a batch of at most `batchWriteLimit` writes to different items. Writes that DynamoDB leaves unprocessed
 * are sent again.
 *
 * @throws `ApiError` `unavailable` if writes stay unprocessed or the table is not reachable; the other writes are done
 */
export async function writeBatch(table: Table, writes: readonly BatchWrite[]): Promise<void> {
  if (writes.length === 0) return;
  let remaining = writes;
  const attempt = async () => {
    remaining = await tryBatch(table, remaining);
    return remaining.length === 0 ? { result: undefined } : undefined;
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
