import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { tableSchema } from '../contract/deployment.ts';
import { timestamp } from '../contract/ids.ts';
import type { Table } from './client.ts';
import type { Key } from './keys.ts';
import { type Item, ignoreStale, Stale, transact, type Write } from './transact.ts';

/** Something that the sweeper's index lists: its key, and the moment it is listed for. */
export type Overdue = { key: Key; dueAt: string };

/** The entry of the sweeper's index that lists an item, in one of its kind's lanes, from a moment on. */
export function dueEntry(lane: string, dueAt: string): Record<string, string> {
  return { [tableSchema.dueIndex.partitionKey]: lane, [tableSchema.dueIndex.sortKey]: dueAt };
}

/**
 * Opens what waits of one kind. The index is eventually consistent: good for waking, not for judging (design §4).
 *
 * @param lanes the partitions of the index that list this kind
 */
export function openDueList(table: Table, lanes: readonly string[]) {
  return {
    /** What is listed up to a moment. */
    async *due(until: string): AsyncGenerator<Overdue> {
      for (const lane of lanes) yield* dueInLane(table, lane, until);
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
        otherwise: () => new Stale(),
      };
      return transact(table, [write]).catch(ignoreStale);
    },
  };
}

async function* dueInLane(table: Table, lane: string, until: string): AsyncGenerator<Overdue> {
  const { name, partitionKey, sortKey } = tableSchema.dueIndex;
  let start: Item | undefined;
  do {
    const page: { Items?: Item[] | undefined; LastEvaluatedKey?: Item | undefined } = await table.client.send(
      new QueryCommand({
        TableName: table.name,
        IndexName: name,
        KeyConditionExpression: '#due = :lane AND #dueAt <= :until',
        ExpressionAttributeNames: { '#due': partitionKey, '#dueAt': sortKey },
        ExpressionAttributeValues: { ':lane': lane, ':until': until },
        ExclusiveStartKey: start,
      }),
    );
    for (const { pk, sk, [sortKey]: dueAt } of page.Items ?? [])
      yield { key: { pk: pk as string, sk: sk as string }, dueAt: dueAt as string };
    start = page.LastEvaluatedKey;
  } while (start);
}

/** How long after it could be done something is overdue, in milliseconds: its wake-up was lost. */
export const graceMs = 60_000;

/** How long the sweeper leaves alone what it has woken, unless told otherwise. */
const sweptMs = 5 * 60_000;

/** How much a sweep moves and wakes side by side. */
const sweptAtOnce = 50;

/**
 * Wakes what is overdue at a moment: lists it for later, then wakes it. It changes no state, so it can do no harm to
 * what is well under way.
 *
 * @param list what of the stores lists and moves it; `postpone` answers what was moved
 * @param until milliseconds since 1970; later than now wakes also what is not yet overdue, as after a restart whose
 *   queues are empty
 * @param againMs how long what it wakes is left alone, in milliseconds
 * @returns how many it woke
 * @throws the first error of those that could not be moved, once the others are woken
 */
export async function sweep<Moved>(
  list: {
    due: (until: string) => AsyncIterable<Overdue>;
    postpone: (overdue: Overdue, later: string) => Promise<Moved | undefined>;
  },
  { until, now, againMs = sweptMs }: { until: number; now: number; againMs?: number },
  wake: (moved: Moved[]) => Promise<void>,
): Promise<number> {
  // Listed whole before anything is moved: what is listed for later may still be within `until`.
  const overdue = await Array.fromAsync(list.due(timestamp(until)));
  const later = timestamp(now + againMs);
  const failures: unknown[] = [];
  let woken = 0;
  for (let at = 0; at < overdue.length; at += sweptAtOnce) {
    const chunk = overdue.slice(at, at + sweptAtOnce);
    // What is not overdue stays listed for its own time.
    const tried = await Promise.allSettled(
      chunk.map((one) => list.postpone(one, one.dueAt > later ? one.dueAt : later)),
    );
    // Whatever became of those beside it: what was moved is woken now, for the next sweep would come to it late.
    failures.push(...tried.flatMap((one) => (one.status === 'rejected' ? [one.reason] : [])));
    const moved = tried.flatMap((one) => (one.status === 'fulfilled' && one.value ? [one.value] : []));
    await wake(moved);
    woken += moved.length;
  }
  if (failures.length > 0) throw failures[0];
  return woken;
}
