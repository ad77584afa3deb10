import type { Write } from './transact.ts';

/**
 * Counters are spread over lanes, for transactions that write to the same item at the same moment are cancelled by
 * DynamoDB (design §4). A list reads all lanes that there are, so there are few for as long as writers seldom meet.
 * Counters are only ever added to, so any lane will do: what a thing has added in one may be taken away in another.
 */

/** Lanes of an epoch whose writers do not meet. A list of a year reads 30 epochs of them. */
export const quietLanes = 4;

/** Lanes that writers who have met others spread over: more than what a partition of DynamoDB takes could fill. */
export const busyLanes = 32;

/** A writer who has met another spreads so many more of its writes to that list's counters. */
export const spreadWrites = 64;

/** The lane of an id as long as nobody is met: a hash of it, so that a thing's moves meet its own counter. */
export function laneOf(ulid: string): number {
  return ulid.charCodeAt(ulid.length - 1) % quietLanes;
}

/** Opens the lanes of a container: what it has met of other writers, by the counters' partition, and nothing of the time before. */
export function openLanes() {
  const spreading = new Map<string, number>();

  return {
    /**
     * The writes of a transaction with their counters in the lanes where they are to be written. Those that are spread
     * go to one lane together: who has it free in one list mostly has it free in the others.
     */
    place(writes: readonly Write[]): readonly Write[] {
      const lane = Math.floor(Math.random() * busyLanes);
      return writes.map((write) => {
        const partition = partitionOf(write);
        const left = partition && spreading.get(partition);
        if (!left) return write;
        if (left > 1) spreading.set(partition, left - 1);
        else spreading.delete(partition);
        return moved(write, lane);
      });
    },

    /**
     * Spreads the counters among these writes, which were met in the hands of other transactions, from now on.
     *
     * @returns whether there are any
     */
    spread(held: readonly Write[]): boolean {
      const partitions = held.flatMap((write) => partitionOf(write) ?? []);
      for (const partition of partitions) spreading.set(partition, spreadWrites);
      return partitions.length > 0;
    },
  };
}

export type Lanes = ReturnType<typeof openLanes>;

/** The partition of the counter that a write adds to; `undefined` for any other write. */
function partitionOf(write: Write): string | undefined {
  return 'Update' in write && write.keyIn ? (write.Update.Key?.pk as string) : undefined;
}

function moved(write: Write, lane: number): Write {
  if (!('Update' in write) || !write.keyIn) return write;
  return { ...write, Update: { ...write.Update, Key: write.keyIn(lane) } };
}
