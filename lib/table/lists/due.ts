import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { inGroups } from '../../aws/in-groups.ts';
import { timestamp } from '../../contract/ids.ts';
import { ascending } from '../../contract/texts/order.ts';
import { tableSchema } from '../../names/table-schema.ts';
import type { Table, TableContext } from '../access/client.ts';
import type { Key } from '../access/keys.ts';
import { Conflict, ignoreConflict, transact } from '../access/transact.ts';
import type { Item, Write } from '../access/write.ts';

/** An entry of the sweeper's index: the key of the item, and the moment at which it is due. */
export type Overdue = { key: Key; dueAt: string };

/** Returns the attributes that list an item in a partition of the sweeper's index. */
export function dueEntry(partition: string, dueAt: string): Record<string, string> {
  return { [tableSchema.dueIndex.partitionKey]: partition, [tableSchema.dueIndex.sortKey]: dueAt };
}

/**
 * Reads the entries that are due up to a moment, page by page as the caller asks for them. Each turn reads one page of
 * every partition, so that a backlog in one partition does not delay the others, and returns its oldest entries first.
 * The index is eventually consistent: an entry may be out of date (docs/architecture.md#keys).
 *
 * @param partitions the partitions of the index to read
 * @param until ISO 8601, included
 * @param from ISO 8601, included; from the oldest on if absent
 */
export async function* readDue(
  { table }: TableContext,
  partitions: readonly string[],
  until: string,
  from?: string,
): AsyncGenerator<Overdue> {
  let reading: Reading[] = partitions.map((partition) => ({ partition, start: undefined }));
  while (reading.length > 0) {
    const pages = await Promise.all(reading.map((one) => readPage(table, one, until, from)));
    yield* pages.flatMap(({ overdue }) => overdue).sort((a, b) => ascending(a.dueAt, b.dueAt));
    reading = pages.flatMap(({ next }) => next ?? []);
  }
}

/**
 * Moves an entry of the index to a later moment.
 *
 * @param later ISO 8601
 * @returns the item as it is now; `undefined` if its entry has changed since it was read
 */
export async function postponeDue(
  { table }: TableContext,
  { key, dueAt }: Overdue,
  later: string,
): Promise<Item | undefined> {
  const write: Write = {
    Update: {
      Key: key,
      UpdateExpression: 'SET #dueAt = :later',
      ConditionExpression: '#dueAt = :dueAt',
      ExpressionAttributeNames: { '#dueAt': tableSchema.dueIndex.sortKey },
      ExpressionAttributeValues: { ':dueAt': dueAt, ':later': later },
      ReturnValues: 'ALL_NEW',
    },
    onConditionFailed: () => new Conflict(),
  };
  return transact(table, [write]).catch(ignoreConflict);
}

/** How many entries of a partition are read in one page. */
const pageSize = 100;

/** A partition of the index, and the entry after which the next page starts. */
type Reading = { partition: string; start: Item | undefined };

/** Reads the next page of a partition; `next` is `undefined` after the last. */
async function readPage(
  table: Table,
  { partition, start }: Reading,
  until: string,
  from?: string,
): Promise<{ overdue: Overdue[]; next: Reading | undefined }> {
  const { name, partitionKey, sortKey } = tableSchema.dueIndex;
  const { Items = [], LastEvaluatedKey } = await table.client.send(
    new QueryCommand({
      TableName: table.name,
      IndexName: name,
      KeyConditionExpression: `#due = :partition AND ${from ? '#dueAt BETWEEN :from AND :until' : '#dueAt <= :until'}`,
      ExpressionAttributeNames: { '#due': partitionKey, '#dueAt': sortKey },
      ExpressionAttributeValues: { ':partition': partition, ':until': until, ...(from && { ':from': from }) },
      ExclusiveStartKey: start,
      Limit: pageSize,
    }),
  );
  const overdue = Items.map(({ pk, sk, [sortKey]: dueAt }) => ({ key: { pk, sk } as Key, dueAt: dueAt as string }));
  return { overdue, next: LastEvaluatedKey && { partition, start: LastEvaluatedKey } };
}

/** An item is overdue this time after it was due, in milliseconds: its message was lost. */
export const graceMs = 60_000;

/** How long a sweep leaves an item alone after it has sent its message, in milliseconds. */
const sweptMs = 5 * 60_000;

/** The number of items whose messages a sweep sends in one step. */
const stepSize = 50;

/** The parameters of a sweep. */
export type SweepCall = {
  /**
   * Unix time, in ms. A moment in the future also sends the messages of items that are not overdue, as after a
   * restart with empty queues.
   */
  until: number;
  /** Whether there is time for another step; the next sweep does the rest. Always if absent. */
  hasTime?: () => boolean;
};

/** The result of a sweep. */
export type Swept = {
  /** The number of items whose messages were sent. */
  woken: number;
  /** Whether the sweep ended for lack of time. */
  unfinished: boolean;
};

/** Returns the results of two sweeps as one. */
export function joinSweeps(one: Swept, other: Swept): Swept {
  return { woken: one.woken + other.woken, unfinished: one.unfinished || other.unfinished };
}

/**
 * Sends the messages of items that are overdue: moves the entries of the items to a later moment, then calls `send`, step
 * by step while there is time. It changes no other state, so it does no harm to an item that is being processed. The
 * oldest entries come first, and a moved entry comes after all that are overdue. So the next sweep begins with the entries
 * that this one has no time for.
 *
 * @param partitions the partitions of the sweeper's index to read
 * @param againMs how long later sweeps skip these items, in milliseconds
 * @throws the first error of an entry that could not be moved, after the messages of the others are sent
 */
export async function sweep(
  context: TableContext & { clock: () => number },
  partitions: readonly string[],
  { until, hasTime = () => true, againMs = sweptMs }: SweepCall & { againMs?: number },
  send: (items: Item[]) => Promise<void>,
): Promise<Swept> {
  const laterMs = context.clock() + againMs;
  const later = timestamp(laterMs);
  let failure: { reason: unknown } | undefined;
  let woken = 0;
  let unfinished = false;

  for (const { from, to } of rangesOf(until, laterMs)) {
    for await (const step of inGroups(readDue(context, partitions, timestamp(to), from), stepSize)) {
      unfinished = !hasTime();
      if (unfinished) break;
      // An item that is not overdue stays listed for its own time.
      const tried = await Promise.allSettled(
        step.map((one) => postponeDue(context, one, one.dueAt > later ? one.dueAt : later)),
      );
      // The messages of moved items are sent now even if another failed: the next sweep would send them too late.
      failure ??= tried.find((one) => one.status === 'rejected');
      const moved = tried.flatMap((one) => (one.status === 'fulfilled' && one.value ? [one.value] : []));
      await send(moved);
      woken += moved.length;
    }
    if (unfinished) break;
  }
  if (failure) throw failure.reason;
  return { woken, unfinished };
}

/**
 * Returns the ranges of due times to read. Overdue entries are moved to `later`; a range that includes `later` would find
 * them again. So the range from `later` on, in which no entry is moved, is read first.
 */
function rangesOf(until: number, later: number): { from?: string; to: number }[] {
  if (until < later) return [{ to: until }];
  return [{ from: timestamp(later), to: until }, { to: later - 1 }];
}
