import { UpdateTableCommand } from '@aws-sdk/client-dynamodb';
import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import { ulid } from 'ulid';
import { timeOf, timestamp } from '../../lib/contract/ids.ts';
import type { Organization } from '../../lib/contract/organization.ts';
import type { Table } from '../../lib/table/client.ts';
import { type ListMembership, listingWrites } from '../../lib/table/listing.ts';
import { type StoredTask, taskItem, taskMembership } from '../../lib/table/task-items.ts';
import type { Item, Write } from '../../lib/table/write.ts';

/** The name of an item: its key in one string. */
export const nameOf = ({ pk, sk }: Item) => `${pk} ${sk}`;

/** The rows and counters that stand where these things came into their lists one after the other, by name. */
export function derivedFrom(standings: Iterable<ListMembership>): Map<string, Item> {
  const items = new Map<string, Item>();
  for (const membership of standings)
    for (const write of listingWrites(undefined, membership)) {
      const item = written(items, write);
      items.set(nameOf(item), item);
    }
  return items;
}

/** The item that a row's put or a counter's `ADD #name :number, …` leaves behind. */
function written(items: Map<string, Item>, write: Write): Item {
  if ('Put' in write) return write.Put.Item ?? {};
  if (!('Update' in write)) throw new Error(`What is new to a list writes ${JSON.stringify(write)}.`);
  const { Key = {}, UpdateExpression = '', ExpressionAttributeNames: names, ExpressionAttributeValues } = write.Update;
  const item = { ...(items.get(nameOf(Key)) ?? Key) };
  for (const [, name = '', value = ''] of UpdateExpression.matchAll(/(#\w+) (:\w+)/g)) {
    const facet = names?.[name] as string;
    item[facet] = ((item[facet] as number | undefined) ?? 0) + ExpressionAttributeValues?.[value];
  }
  return item;
}

/** DynamoDB takes no more items at once. */
const batchLimit = 25;

/**
 * New tasks at moments of their own, `timeAt` the nth: what a create with nothing but a title makes. With a `random`
 * that a seed repeats the ids are the same each time.
 */
export function bareTasks(
  count: number,
  timeAt = (_nth: number) => Date.UTC(2026, 0, 1),
  random?: () => number,
): StoredTask[] {
  return Array.from({ length: count }, (_, nth) => {
    const id = ulid(timeAt(nth), random);
    const createdAt = timestamp(timeOf(id));
    return {
      id: `tk_${id}`,
      title: `Task ${nth}`,
      status: 'backlog',
      priority: 'medium',
      dependsOn: [],
      dependents: [],
      version: 1,
      createdAt,
      updatedAt: createdAt,
    };
  });
}

/** All items of a board that has these tasks, with exactly what their creates would have left. */
export function boardItems(
  organization: Organization,
  tasks: readonly StoredTask[],
  isRead: (task: StoredTask) => boolean = () => true,
): Item[] {
  return [
    ...tasks.filter(isRead).map((task) => taskItem(organization, task)),
    ...derivedFrom(tasks.map((task) => taskMembership(organization, task))).values(),
  ];
}

/**
 * Writes tasks straight into a board that has none, in batches, with exactly what their creates would have left.
 * Items that no test reads may be left out; rows and counters are all written.
 */
export async function seed(
  table: Table,
  organization: Organization,
  tasks: readonly StoredTask[],
  isRead?: (task: StoredTask) => boolean,
): Promise<void> {
  await writeItems(table, boardItems(organization, tasks, isRead));
}

/**
 * Writes new items straight into the table, in batches.
 *
 * @param written told after each batch how many of the items are in
 * @throws Error where the engine leaves any out
 */
export async function writeItems(
  table: Table,
  items: readonly Item[],
  written: (count: number) => void = () => {},
): Promise<void> {
  const batches = Array.from({ length: Math.ceil(items.length / batchLimit) }, (_, at) =>
    items.slice(at * batchLimit, (at + 1) * batchLimit),
  );
  const queue = batches.values();
  let count = 0;
  const write = async () => {
    for (const batch of queue) {
      const puts = batch.map((Item) => ({ PutRequest: { Item } }));
      const { UnprocessedItems = {} } = await table.client.send(
        new BatchWriteCommand({ RequestItems: { [table.name]: puts } }),
      );
      if (Object.keys(UnprocessedItems).length > 0) throw new Error('The engine left items unwritten.');
      count += batch.length;
      written(count);
    }
  };
  await Promise.all(Array.from({ length: 4 }, write));
}

/** Turns a table's stream off, for a table that is written much and whose stream nobody reads: it takes half the time. */
export async function withoutStream(table: Table): Promise<void> {
  const StreamSpecification = { StreamEnabled: false };
  await table.client.send(new UpdateTableCommand({ TableName: table.name, StreamSpecification }));
}
