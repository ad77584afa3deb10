import { BatchGetCommand, GetCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { Table } from './client.ts';
import type { Key } from './keys.ts';
import { batchRetries, retryWithJitter } from './retry.ts';
import { asUnavailable } from './unavailable.ts';
import type { Item } from './write.ts';
import { unmarked } from './write-marks.ts';

/** Waits for a read. Throttling and outages throw `ApiError` `unavailable`. */
async function finishRead<Output>(sent: Promise<Output>): Promise<Output> {
  try {
    return await sent;
  } catch (error) {
    throw asUnavailable(error);
  }
}

/** Returns an item, strongly consistent; `undefined` if there is none. */
export async function getItem(table: Table, key: Key): Promise<Item | undefined> {
  const command = new GetCommand({ TableName: table.name, Key: key, ConsistentRead: true });
  const { Item } = await finishRead(table.client.send(command));
  return Item && unmarked(Item);
}

/** The maximum number of keys that DynamoDB takes in one batch. */
export const batchReadLimit = 100;

/**
 * Returns the items that exist, in the order of the keys, strongly consistent.
 *
 * @throws `ApiError` `unavailable` when keys stay unprocessed
 */
export async function getItems(table: Table, wanted: readonly Key[]): Promise<Item[]> {
  return (await getEach(table, wanted)).filter((item) => item !== undefined);
}

/**
 * Returns the item of each key, strongly consistent; `undefined` for a key without an item. Keys that DynamoDB leaves
 * unprocessed are sent again.
 *
 * @param wanted different keys
 * @throws `ApiError` `unavailable` when keys stay unprocessed
 */
export async function getEach(table: Table, wanted: readonly Key[]): Promise<(Item | undefined)[]> {
  const found = new Map<string, Item>();
  for (let at = 0; at < wanted.length; at += batchReadLimit) {
    let missing: Key[] = wanted.slice(at, at + batchReadLimit);
    const attempt = async () => {
      const { Responses, UnprocessedKeys } = await finishRead(
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
 * A range of a partition: the sort keys `from` to `to`, both included, and at most `limit` items. With `only` the items
 * have only the sort key and these attributes. That saves no read units.
 */
export type Range = {
  pk: string;
  from?: string | undefined;
  to?: string;
  limit?: number;
  only?: readonly string[] | undefined;
};

/** Returns the projection of attributes. Placeholders allow any name. */
function projected(names: readonly string[]) {
  const placeholders = Object.fromEntries(names.map((name, at) => [`#only${at}`, name]));
  return { ProjectionExpression: Object.keys(placeholders).join(', '), ExpressionAttributeNames: placeholders };
}

/** The ends of a range. */
type Bounds = Required<Pick<Range, 'pk' | 'to'>> & { from: string };

/** Returns the strongly consistent query of a range. */
function queryOf({ name }: Table, { pk, from, to }: Bounds) {
  return {
    TableName: name,
    KeyConditionExpression: 'pk = :pk AND sk BETWEEN :from AND :to',
    ExpressionAttributeValues: { ':pk': pk, ':from': from, ':to': to },
    ConsistentRead: true,
  };
}

/** Returns the number of items in a range, strongly consistent. It takes as many read units as reading the items. */
export async function countItems(table: Table, range: Bounds): Promise<number> {
  let count = 0;
  let start: Item | undefined;
  do {
    const { Count = 0, LastEvaluatedKey }: { Count?: number | undefined; LastEvaluatedKey?: Item | undefined } =
      await finishRead(
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

/** Yields the items of a range by descending sort key, strongly consistent. Pages are read when they are needed. */
export async function* queryItems(
  table: Table,
  { pk, from = ' ', to = '~', limit, only }: Range,
): AsyncGenerator<Item> {
  let start: Item | undefined;
  let remaining = limit ?? Number.POSITIVE_INFINITY;
  do {
    const { Items = [], LastEvaluatedKey }: { Items?: Item[] | undefined; LastEvaluatedKey?: Item | undefined } =
      await finishRead(
        table.client.send(
          new QueryCommand({
            ...queryOf(table, { pk, from, to }),
            ...(only && projected(['sk', ...only])),
            ScanIndexForward: false,
            Limit: limit && remaining,
            ExclusiveStartKey: start,
          }),
        ),
      );
    yield* Items.map(unmarked);
    remaining -= Items.length;
    start = LastEvaluatedKey;
  } while (start && remaining > 0);
}
