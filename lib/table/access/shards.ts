import type { Write } from './write.ts';

/**
 * Counters are spread over shards, because DynamoDB cancels transactions that write to the same item at the same time
 * (docs/architecture.md#lists-and-counts). A reader reads all shards of a list, so writers use one shard while there are no
 * conflicts, four after the first one, and double their number after each further conflict. Counters are only added to. So
 * any shard will do: a list can be entered in one shard and left in another. Versions up to 0.2.0 began with four shards.
 */

/** The shard of a list without conflicts. A reader of a whole year reads one counter for each of 30 periods. */
export const onlyShard = 0;

/** The number of shards of a list after its first conflict. */
export const shardsAfterConflict = 4;

/** The maximum number of shards that conflicts can lead to. */
export const maxShards = 128;

/**
 * After this many writes to a list without a conflict its number of shards is halved. Under a steady load about one
 * write in 20 then has a conflict.
 */
export const writesBeforeHalving = 16;

/** Returns a shard for an item, for writes of one process at the same time that would be in conflict in a single shard. */
export function shardOf(ulid: string): number {
  return ulid.charCodeAt(ulid.length - 1) % shardsAfterConflict;
}

/** The number of shards of a list after conflicts, and the number of writes since the last conflict or halving. */
type ListShards = { shards: number; writesWithoutConflict: number };

/** The lists in which this process had conflicts lately, by the partition of their counters. */
export type Shards = Map<string, ListShards>;

/** Creates the state of a process that had no conflict yet. */
export function createShards(): Shards {
  return new Map();
}

/**
 * Returns the writes of a transaction, with each counter in the shard that it is to be written in. Lists with the same
 * number of shards use the same shard: a writer that is alone in it for one list is mostly alone for the others.
 */
export function placeCounters(lists: Shards, writes: readonly Write[]): readonly Write[] {
  const random = Math.random();
  return writes.map((write) => {
    const list = isCounter(write) && lists.get(partitionOf(write));
    if (!list) return write;
    return { ...write, Update: { ...write.Update, Key: write.keyIn(Math.floor(random * list.shards)) } };
  });
}

/**
 * Notes that writes had no conflict: when the last conflict is long enough ago, halves the shards of a list, or ends them if
 * there are four.
 */
export function noteNoConflict(lists: Shards, writes: readonly Write[]): void {
  for (const partition of writes.filter(isCounter).map(partitionOf)) {
    const list = lists.get(partition);
    if (!list || ++list.writesWithoutConflict < writesBeforeHalving) continue;
    if (list.shards > shardsAfterConflict) lists.set(partition, { shards: list.shards / 2, writesWithoutConflict: 0 });
    else lists.delete(partition);
  }
}

/**
 * Notes that writes were in conflict with other transactions: raises the number of shards of each counter among them to
 * four, and doubles it from then on.
 *
 * @returns whether there is a counter among them
 */
export function noteConflicts(lists: Shards, writes: readonly Write[]): boolean {
  const partitions = writes.filter(isCounter).map(partitionOf);
  for (const partition of partitions) {
    const before = lists.get(partition)?.shards;
    const shards = before === undefined ? shardsAfterConflict : 2 * before;
    lists.set(partition, { shards: Math.min(shards, maxShards), writesWithoutConflict: 0 });
  }
  return partitions.length > 0;
}

/** A write that adds to a counter, in any shard. */
type Counter = Extract<Write, { Update: unknown }> & Required<Pick<Write, 'keyIn'>>;

const isCounter = (write: Write): write is Counter => 'Update' in write && write.keyIn !== undefined;

/** Returns the partition of a counter: it has the counters of one list. */
const partitionOf = ({ Update }: Counter) => Update.Key?.pk as string;
