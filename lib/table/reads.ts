import { BatchGetCommand, GetCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { Table } from './client.ts';
import type { Key } from './keys.ts';
import { batchRetries, retryWithJitter } from './retry.ts';
import { asUnavailable } from './unavailable.ts';
import type { Item } from './write.ts';
import { unmarked } from './write-marks.ts';

/** Waits for a read; a table that still throttles, or cannot be reached, is busy, not broken. */
async function reading<Output>(sent: Promise<Output>): Promise<Output> {
  try {
    return await sent;
  } catch (error) {
    throw asUnavailable(error);
  }
}

/** Reads an item as it is now (strongly consistent), or `undefined`. */
export async function getItem(table: Table, key: Key): Promise<Item | undefined> {
  const command = new GetCommand({ TableName: table.name, Key: key, ConsistentRead: true });
  const { Item } = await reading(table.client.send(command));
  return Item && unmarked(Item);
}

/** DynamoDB takes no more keys in one batch. */
export const batchReadLimit = 100;

/**
 * Reads items as they are now, in the order of the keys; what is absent is left out.
 *
 * @throws `ApiError` `unavailable` when keys stay unprocessed
 */
export async function getItems(table: Table, wanted: readonly Key[]): Promise<Item[]> {
  return (await getEach(table, wanted)).filter((item) => item !== undefined);
}

/**
 * Reads the item of each key as it is now, `undefined` where there is none. Keys that DynamoDB leaves unprocessed are sent
 * again.
 *
 * @param wanted different keys
 * @throws `ApiError` `unavailable` when keys stay unprocessed
 */
export async function getEach(table: Table, wanted: readonly Key[]): Promise<(Item | undefined)[]> {
  const found = new Map<string, Item>();
  for (let at = 0; at < wanted.length; at += batchReadLimit) {
    let missing: Key[] = wanted.slice(at, at + batchReadLimit);
    const attempt = async () => {
      const { Responses, UnprocessedKeys } = await reading(
        table.client.send(
          new BatchGetCommand({ RequestItems: { [table.name]: { Keys: missing, ConsistentRead: true } } }),
        ),
      );
      for (const item of (Responses?.[table.name] ?? []) as Item[]) found.set(`${item.pk} ${item.sk}`, unmarked(item));
      missing = (UnprocessedKeys?.[table.name]?.Keys ?? []) as Key[];
      return missing.length === 0 ? { result: undefined } : undefined;
    };
    await retryWithJitter(table, attempt, batchRetries);
  }
  return wanted.map((key) => found.get(`${key.pk} ${key.sk}`));
}

/**
 * A range of a partition: sort keys `from` to `to`, both included, and how many items at most. With `only` nothing else
 * of an item is handed over but its sort key and these attributes; it takes as many read units.
 */
export type Range = {
  pk: string;
  from?: string | undefined;
  to?: string;
  limit?: number;
  only?: readonly string[] | undefined;
};

/** Only these attributes; by stand-ins, for a name may be any text. */
function projected(names: readonly string[]) {
  const standIns = Object.fromEntries(names.map((name, at) => [`#only${at}`, name]));
  return { ProjectionExpression: Object.keys(standIns).join(', '), ExpressionAttributeNames: standIns };
}

/** The ends of a range. */
type Bounds = Required<Pick<Range, 'pk' | 'to'>> & { from: string };

/** What asks for a range as it is now. */
function queryOf({ name }: Table, { pk, from, to }: Bounds) {
  return {
    TableName: name,
    KeyConditionExpression: 'pk = :pk AND sk BETWEEN :from AND :to',
    ExpressionAttributeValues: { ':pk': pk, ':from': from, ':to': to },
    ConsistentRead: true,
  };
}

/** Counts a range of a partition as it is now. It takes as many read units as reading it. */
export async function countItems(table: Table, range: Bounds): Promise<number> {
  let count = 0;
  let start: Item | undefined;
  do {
    const { Count = 0, LastEvaluatedKey }: { Count?: number | undefined; LastEvaluatedKey?: Item | undefined } =
      await reading(
        table.client.send(
          new QueryCommand({
            ...queryOf(table, range),
            Select: 'COUNT',
            ExclusiveStartKey: start,
          }),
        ),
      );
    count += Count;
    start = LastEvaluatedKey;
  } while (start);
  return count;
}

/** Reads a range of a partition as it is now, by descending sort key, page after page for as long as it is asked. */
export async function* queryItems(
  table: Table,
  { pk, from = ' ', to = '~', limit, only }: Range,
): AsyncGenerator<Item> {
  let start: Item | undefined;
  let left = limit ?? Number.POSITIVE_INFINITY;
  do {
    const { Items = [], LastEvaluatedKey }: { Items?: Item[] | undefined; LastEvaluatedKey?: Item | undefined } =
      await reading(
        table.client.send(
          new QueryCommand({
            ...queryOf(table, { pk, from, to }),
            ...(only && projected(['sk', ...only])),
            ScanIndexForward: false,
            Limit: limit && left,
            ExclusiveStartKey: start,
          }),
        ),
      );
    yield* Items.map(unmarked);
    left -= Items.length;
    start = LastEvaluatedKey;
  } while (start && left > 0);
}
