import { ulid } from 'ulid';
import { timeOf, timestamp } from '../../../lib/contract/ids.ts';
import type { Organization } from '../../../lib/contract/organization.ts';
import { batchWriteLimit, writeBatch } from '../../../lib/table/access/batch-writes.ts';
import type { Table } from '../../../lib/table/access/client.ts';
import type { Item, Write } from '../../../lib/table/access/write.ts';
import { type ListMembership, listingWrites } from '../../../lib/table/lists/listing.ts';
import { type StoredTask, taskItem, taskMembership } from '../../../lib/table/tasks/task-items.ts';

/** Returns the key of an item in one string. */
export const nameOf = ({ pk, sk }: Item) => `${pk} ${sk}`;

/** Returns the rows and counters of items that entered their lists one after the other, by name. */
function derivedFrom(memberships: Iterable<ListMembership>): Map<string, Item> {
  return itemsAfter([...memberships].flatMap((membership) => listingWrites(undefined, membership)));
}

/** Returns the rows and counters after these writes, by name. */
export function itemsAfter(writes: Iterable<Write>): Map<string, Item> {
  const items = new Map<string, Item>();
  for (const write of writes) {
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

/** Creates tasks with only a title. Seeded random numbers give the same ids in each run. */
export function bareTasks(
  count: number,
  timeAt = (_nth: number) => Date.UTC(2026, 0, 1),
  random?: () => number,
): StoredTask[] {
  return Array.from({ length: count }, (_, nth) => {
    const id = ulid(timeAt(nth), random);
    const createdAt = timestamp(timeOf(id));
    return {
      ...{ id: `tk_${id}`, title: `Task ${nth}`, status: 'backlog', priority: 'medium' },
      ...{ dependsOn: [], dependents: [], version: 1, createdAt, updatedAt: createdAt },
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

/** Writes tasks to an organization without tasks, as their creations would have written them. */
export const seed = (table: Table, ...items: Parameters<typeof boardItems>): Promise<void> =>
  writeItems(table, boardItems(...items));

/** Writes new items in batches; `written` receives the number of written items after each batch. */
export async function writeItems(
  table: Table,
  items: readonly Item[],
  written: (count: number) => void = () => {},
): Promise<void> {
  const puts = items.map((Item) => ({ PutRequest: { Item } })).values();
  let count = 0;
  const write = async () => {
    for (let batch = [...puts.take(batchWriteLimit)]; batch.length > 0; batch = [...puts.take(batchWriteLimit)]) {
      await writeBatch(table, batch);
      count += batch.length;
      written(count);
    }
  };
  await Promise.all(Array.from({ length: 4 }, write));
}
