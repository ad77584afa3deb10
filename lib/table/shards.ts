import type { Write } from './write.ts';

/**
 * Counters are spread over shards, for transactions that write to the same item at the same moment are cancelled by
 * DynamoDB (docs/architecture.md#lists-and-counts). A list reads all shards that there are, so writers use few for as
 * long as they seldom meet, and twice as many each time that they do. Counters are only ever added to, so any shard will
 * do: what a thing has added in one may be taken away in another.
 */

/** The shards of a list in an period whose writers do not meet. A list of a year reads 30 periods of them. */
export const quietShards = 4;

/** The most shards that writers who meet are spread over. */
export const mostShards = 128;

/** After so many writes to a list without a meeting a writer is content with half the shards: one in twenty or so meets another. */
export const calmWrites = 16;

/** The shard of an id as long as nobody is met: a hash of it, so that a thing's moves meet its own counter. */
export function shardOf(ulid: string): number {
  return ulid.charCodeAt(ulid.length - 1) % quietShards;
}

/** How widely the counters of a list are spread, and how many writes ago another was met there. */
type Spread = { shards: number; calm: number };

/** Opens the shards of a container: what it has met of other writers, by the partition of the counters. */
export function createShards() {
  const spreads = new Map<string, Spread>();

  return {
    /**
     * The writes of a transaction with their counters in the shards where they are to be written. Lists that are spread
     * alike are written in the same shard: who has it free in one mostly has it free in the others.
     */
    place(writes: readonly Write[]): readonly Write[] {
      const chance = Math.random();
      return writes.map((write) => {
        const spread = isCounter(write) && spreads.get(partitionOf(write));
        if (!spread) return write;
        return { ...write, Update: { ...write.Update, Key: write.keyIn(Math.floor(chance * spread.shards)) } };
      });
    },

    /** Notes that these writes met nobody. */
    passed(writes: readonly Write[]): void {
      for (const partition of writes.filter(isCounter).map(partitionOf)) {
        const spread = spreads.get(partition);
        if (!spread || ++spread.calm < calmWrites) continue;
        if (spread.shards > 2 * quietShards) spreads.set(partition, { shards: spread.shards / 2, calm: 0 });
        else spreads.delete(partition);
      }
    },

    /**
     * Spreads the counters among these writes, which were met in the hands of other transactions, over twice the shards.
     *
     * @returns whether there are any
     */
    spread(held: readonly Write[]): boolean {
      const partitions = held.filter(isCounter).map(partitionOf);
      for (const partition of partitions) {
        const shards = 2 * (spreads.get(partition)?.shards ?? quietShards);
        spreads.set(partition, { shards: Math.min(shards, mostShards), calm: 0 });
      }
      return partitions.length > 0;
    },
  };
}

export type Shards = ReturnType<typeof createShards>;

/** A write that adds to a counter, in any shard. */
type Counter = Extract<Write, { Update: unknown }> & Required<Pick<Write, 'keyIn'>>;

const isCounter = (write: Write): write is Counter => 'Update' in write && write.keyIn !== undefined;

/** The partition of a counter: the list that it counts. */
const partitionOf = ({ Update }: Counter) => Update.Key?.pk as string;
