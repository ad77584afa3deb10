import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { timestamp } from '../contract/ids.ts';
import { tableSchema } from '../deployment/table-schema.ts';
import type { Table } from './client.ts';
import type { Key } from './keys.ts';
import { Conflict, ignoreConflict, transact } from './transact.ts';
import type { Item, Write } from './write.ts';

/** Something that the sweeper's index lists: its key, and the moment it is listed for. */
export type Overdue = { key: Key; dueAt: string };

/** The entry of the sweeper's index that lists an item, in one of its kind's partitions, from a moment on. */
export function dueEntry(partition: string, dueAt: string): Record<string, string> {
  return { [tableSchema.dueIndex.partitionKey]: partition, [tableSchema.dueIndex.sortKey]: dueAt };
}

/**
 * Opens what waits of one kind. The index is eventually consistent: good for waking, not for judging
 * (docs/architecture.md#keys).
 *
 * @param partitions the partitions of the index that list this kind
 */
export function openDueList(table: Table, partitions: readonly string[]) {
  return {
    /**
     * Reads what is listed up to a moment, page by page as it is asked for. Pages of all partitions are read in turn, so
     * that a backlog in one keeps none of the others waiting, and the oldest entries of a turn come first.
     *
     * @param until ISO 8601, included
     * @param from ISO 8601, included; without it from the oldest on
     */
    async *due(until: string, from?: string): AsyncGenerator<Overdue> {
      let reading: Reading[] = partitions.map((partition) => ({ partition, start: undefined }));
      while (reading.length > 0) {
        const pages = await Promise.all(reading.map((one) => readPage(table, one, until, from)));
        yield* pages.flatMap(({ overdue }) => overdue).sort((a, b) => compare(a.dueAt, b.dueAt));
        reading = pages.flatMap(({ next }) => next ?? []);
      }
    },

    /** Lists something for a later moment and answers its item as it is now; `undefined` where it has moved on. */
    async postpone({ key, dueAt }: Overdue, later: string): Promise<Item | undefined> {
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
    },
  };
}

/** How many entries of a partition are read at once. */
const pageSize = 100;

/** Where the reading of a partition of the index goes on. */
type Reading = { partition: string; start: Item | undefined };

/** Reads the next entries of a partition, and where to go on, unless it has no more. */
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
      KeyConditionExpression: `#due = :lane AND ${from ? '#dueAt BETWEEN :from AND :until' : '#dueAt <= :until'}`,
      ExpressionAttributeNames: { '#due': partitionKey, '#dueAt': sortKey },
      ExpressionAttributeValues: { ':lane': partition, ':until': until, ...(from && { ':from': from }) },
      ExclusiveStartKey: start,
      Limit: pageSize,
    }),
  );
  const overdue = Items.map(({ pk, sk, [sortKey]: dueAt }) => ({ key: { pk, sk } as Key, dueAt: dueAt as string }));
  return { overdue, next: LastEvaluatedKey && { partition, start: LastEvaluatedKey } };
}

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

/** How long after it could be done something is overdue, in milliseconds: its wake-up was lost. */
export const graceMs = 60_000;

/** How long the sweeper leaves alone what it has woken, unless told otherwise. */
const sweptMs = 5 * 60_000;

/** How much a sweep moves and wakes side by side. */
const sweptAtOnce = 50;

/** What a sweep acts for. */
export type SweepCall = {
  /**
   * Milliseconds since 1970. Later than now wakes also what is not yet overdue, as after a restart whose queues are
   * empty.
   */
  until: number;
  /** Whether there is time for more; asked before each step. What is left is for the next sweep. Always, if not given. */
  hasTime?: () => boolean;
};

/** What a sweep did. */
export type Swept = {
  /** How many it woke. */
  woken: number;
  /** Whether it ended for lack of time, with more to be woken. */
  unfinished: boolean;
};

/**
 * Wakes what is overdue at a moment: lists it for later, then wakes it, step by step while there is time. It changes no
 * state, so it can do no harm to what is well under way. The oldest comes first, and what is woken is listed behind all
 * that is overdue: what one sweep has no time for comes first in the next.
 *
 * @param list what of the stores lists and moves it; `postpone` answers what was moved
 * @param call `now` in milliseconds since 1970; `againMs` is how long what it wakes is left alone
 * @throws the first error of those that could not be moved, once the others are woken
 */
export async function sweep<Moved>(
  list: {
    due: (until: string, from?: string) => AsyncIterable<Overdue>;
    postpone: (overdue: Overdue, later: string) => Promise<Moved | undefined>;
  },
  { until, hasTime = () => true, now, againMs = sweptMs }: SweepCall & { now: number; againMs?: number },
  wake: (moved: Moved[]) => Promise<void>,
): Promise<Swept> {
  const later = timestamp(now + againMs);
  let failure: { reason: unknown } | undefined;
  let woken = 0;
  let unfinished = false;

  for (const { from, to } of rangesOf(until, now + againMs)) {
    for await (const step of stepsOf(list.due(timestamp(to), from))) {
      unfinished = !hasTime();
      if (unfinished) break;
      // What is not overdue stays listed for its own time.
      const tried = await Promise.allSettled(
        step.map((one) => list.postpone(one, one.dueAt > later ? one.dueAt : later)),
      );
      // Whatever became of those beside it: what was moved is woken now, for the next sweep would come to it late.
      failure ??= tried.find((one) => one.status === 'rejected');
      const moved = tried.flatMap((one) => (one.status === 'fulfilled' && one.value ? [one.value] : []));
      await wake(moved);
      woken += moved.length;
    }
    if (unfinished) break;
  }
  if (failure) throw failure.reason;
  return { woken, unfinished };
}

/**
 * Returns the ranges of due times to read. What is overdue is moved to `later`, where a reading that reaches so far would
 * find it again: the range from `later` on, in which nothing is moved, is read first.
 */
function rangesOf(until: number, later: number): { from?: string; to: number }[] {
  if (until < later) return [{ to: until }];
  return [{ from: timestamp(later), to: until }, { to: later - 1 }];
}

/** Gathers entries into steps of `sweptAtOnce`. No more is read than the step asks for. */
async function* stepsOf(entries: AsyncIterable<Overdue>): AsyncGenerator<Overdue[]> {
  let step: Overdue[] = [];
  for await (const entry of entries) {
    step.push(entry);
    if (step.length < sweptAtOnce) continue;
    yield step;
    step = [];
  }
  if (step.length > 0) yield step;
}
