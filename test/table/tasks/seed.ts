import { UpdateTableCommand } from '@aws-sdk/client-dynamodb';
import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import { ulid } from 'ulid';
import { timeOf, timestamp } from '../../../lib/contract/ids.ts';
import type { Organization } from '../../../lib/contract/organization.ts';
import type { Table } from '../../../lib/table/client.ts';
import { type ListMembership, listingWrites } from '../../../lib/table/lists/listing.ts';
import { type StoredTask, taskItem, taskMembership } from '../../../lib/table/tasks/task-items.ts';
import type { Item, Write } from '../../../lib/table/write.ts';

/** Returns the key of an item in one string. */
export const nameOf = ({ pk, sk }: Item) => `${pk} ${sk}`;

/** Returns the rows and counters of items that entered their lists one after the other, by name. */
export function derivedFrom(memberships: Iterable<ListMembership>): Map<string, Item> {
  const items = new Map<string, Item>();
  for (const membership of memberships)
    for (const write of listingWrites(undefined, membership)) {
      const item = written(items, write);
      items.set(nameOf(item), item);
    }
  return items;
}

/** Returns the item after the put of a row or the `ADD #name :number, …` of a counter. */
function written(items: Map<string, Item>, write: Write): Item {
  if ('Put' in write) return write.Put.Item ?? {};
  if (!('Update' in write)) throw new Error(`Unexpected write for a new item of a list: ${JSON.stringify(write)}`);
  const { Key = {}, UpdateExpression = '', ExpressionAttributeNames: names, ExpressionAttributeValues } = write.Update;
  const item = { ...(items.get(nameOf(Key)) ?? Key) };
  for (const [, name = '', value = ''] of UpdateExpression.matchAll(/(#\w+) (:\w+)/g)) {
    const facet = names?.[name] as string;
    item[facet] = ((item[facet] as number | undefined) ?? 0) + ExpressionAttributeValues?.[value];
  }
  return item;
}

/** The most items of a batch. */
const batchLimit = 25;

/**
 * Creates tasks with only a title. `timeAt` returns the time of the nth task. With seeded random numbers the ids are
 * the same in each run.
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

/** Returns all items of a board with these tasks, as their creations would have written them. */
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
 * Writes tasks in batches to a board without tasks, as their creations would have written them. Items of tasks that no
 * test reads can be left out; their rows and counters are written.
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
 * Writes new items to the table in batches.
 *
 * @param written receives the number of written items after each batch
 * @throws Error if the engine leaves items unprocessed
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

/** Turns the stream of a table off. It halves the time of many writes whose stream is not read. */
export async function withoutStream(table: Table): Promise<void> {
  const StreamSpecification = { StreamEnabled: false };
  await table.client.send(new UpdateTableCommand({ TableName: table.name, StreamSpecification }));
}
