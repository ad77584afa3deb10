import { BatchGetCommand, GetCommand, QueryCommand, type QueryCommandOutput } from '@aws-sdk/lib-dynamodb';
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
 * unprocessed are sent again. A key that is wanted twice is sent once: DynamoDB rejects duplicate keys.
 *
 * @throws `ApiError` `unavailable` when keys stay unprocessed
 */
export async function getEach(table: Table, wanted: readonly Key[]): Promise<(Item | undefined)[]> {
  const found = new Map<string, Item>();
  const different = [...new Map(wanted.map((key) => [`${key.pk} ${key.sk}`, key])).values()];
  for (let at = 0; at < different.length; at += batchReadLimit) {
    let missing: Key[] = different.slice(at, at + batchReadLimit);
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
 * have only the sort key and these attributes. That saves no read units. The order is descending, unless `ascending` is true.
 */
export type Range = {
  pk: string;
  from?: string | undefined;
  to?: string;
  limit?: number;
  only?: readonly string[] | undefined;
  ascending?: boolean;
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

/** A condition on the attributes of items; `names` and `values` have its placeholders. */
export type Filter = { expression: string; names: Record<string, string>; values: Record<string, unknown> };

/**
 * The maximum number of items in a page of `filterItems`. A page has less than 1 MB if its items have less than 1 KB.
 */
const filteredPageItems = 1000;

/**
 * Reads the newest items of a range by descending sort key, strongly consistent, and returns the items that pass a filter.
 * Items that do not pass take as many read units.
 *
 * @param range `limit` is the maximum number of items to read, whether they pass or not
 * @returns also how many items were read, and the sort key of the last one if the limit ended the reading
 */
export async function filterItems(
  table: Table,
  range: Bounds & { limit: number },
  { expression, names, values }: Filter,
): Promise<{ items: Item[]; read: number; lastRead: string | undefined }> {
  const items: Item[] = [];
  let read = 0;
  let lastRead: string | undefined;
  for await (const page of queryPages(table, range, { expression, names, values })) {
    items.push(...page.items);
    read += page.read;
    lastRead = page.lastRead;
  }
  return { items, read, lastRead };
}

/**
 * A page of a range: the items that pass the filter, how many items were read, and the sort key of the last one, unless the
 * range has ended.
 */
type ItemPage = { items: Item[]; read: number; lastRead: string | undefined };

/**
 * Yields the pages of a range, strongly consistent. Pages are read when they are needed.
 *
 * @param range `limit` is the maximum number of items to read, `pageItems` the maximum of a page, whether they pass or not.
 *   `eventual` reads eventually consistent, which takes half the read units
 */
export async function* queryPages(
  table: Table,
  range: Bounds & { limit: number; pageItems?: number; ascending?: boolean; eventual?: boolean },
  filter?: Filter,
): AsyncGenerator<ItemPage, undefined> {
  const { limit, pageItems = filteredPageItems, ascending = false, eventual = false } = range;
  const query = { ...queryOf(table, range), ConsistentRead: !eventual };
  let remaining = limit;
  let start: Item | undefined;
  do {
    const {
      Items = [],
      ScannedCount = 0,
      LastEvaluatedKey,
    }: Partial<QueryCommandOutput> = await finishRead(
      table.client.send(
        new QueryCommand({
          ...query,
          ...(filter && {
            FilterExpression: filter.expression,
            ExpressionAttributeNames: filter.names,
            ExpressionAttributeValues: { ...query.ExpressionAttributeValues, ...filter.values },
          }),
          ScanIndexForward: ascending,
          Limit: Math.min(remaining, pageItems),
          ExclusiveStartKey: start,
        }),
      ),
    );
    remaining -= ScannedCount;
    start = LastEvaluatedKey;
    yield { items: Items.map(unmarked), read: ScannedCount, lastRead: start?.sk as string | undefined };
  } while (start && remaining > 0);
}

/** Yields the items of a range by their sort keys, strongly consistent. Pages are read when they are needed. */
export async function* queryItems(table: Table, range: Range): AsyncGenerator<Item> {
  for await (const items of readPages(table, range)) yield* items;
}

/** Returns all items of a range by their sort keys, strongly consistent. */
export async function readRange(table: Table, range: Range): Promise<Item[]> {
  // By pages: an asynchronous generator of items takes more of the time of a small page than its items.
  const pages = await Array.fromAsync(readPages(table, range));
  return pages.length === 1 ? (pages[0] as Item[]) : pages.flat();
}

async function* readPages(
  table: Table,
  { pk, from = ' ', to = '~', limit, only, ascending = false }: Range,
): AsyncGenerator<Item[]> {
  let start: Item | undefined;
  let remaining = limit ?? Number.POSITIVE_INFINITY;
  do {
    const { Items = [], LastEvaluatedKey }: { Items?: Item[] | undefined; LastEvaluatedKey?: Item | undefined } =
      await finishRead(
        table.client.send(
          new QueryCommand({
            ...queryOf(table, { pk, from, to }),
            ...(only && projected(['sk', ...only])),
            ScanIndexForward: ascending,
            Limit: limit && remaining,
            ExclusiveStartKey: start,
          }),
        ),
      );
    yield Items.map(unmarked);
    remaining -= Items.length;
    start = LastEvaluatedKey;
  } while (start && remaining > 0);
}
