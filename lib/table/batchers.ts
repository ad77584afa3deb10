import { inBatches } from '../batching/in-batches.ts';
import type { EventName } from '../contract/events.ts';
import type { Organization } from '../contract/organization.ts';
import { batchWriteLimit, writeBatch } from './batch-writes.ts';
import type { TableContext } from './client.ts';
import type { TaskFilterChange } from './deliveries/task-filters.ts';
import type { Key } from './keys.ts';
import { batchReadLimit, getEach } from './reads.ts';
import type { Item } from './write.ts';

/** The event of an organization whose subscribers are read. */
export type SubscribedEvent = { organization: Organization; event: EventName };

/**
 * A webhook that is subscribed to an event: its id, the Unix time in ms from which it is subscribed, and its filters if it
 * has had one.
 */
export type Subscriber = { id: string; since: number; taskFilters?: readonly TaskFilterChange[] };

/** An event that followers of its organization may have passed. */
export type LateEvent = { organization: Organization; ulid: string };

/**
 * The functions that join the calls of one turn of the event loop into batches, for one table. Each is created at its
 * first use.
 */
export type Batchers = {
  putItem?: (item: Item) => Promise<unknown>;
  readItem?: (key: Key) => Promise<Item | undefined>;
  readSubscribers?: (event: SubscribedEvent) => Promise<Subscriber[]>;
  listLateEvent?: (event: LateEvent) => Promise<string>;
};

/** The part of a context that batches need. */
export type BatchingContext = TableContext & { batchers: Batchers };

/**
 * Puts an item, whether it exists or not. Puts in one turn of the event loop are batched; two different
 * items with the same key are put one after the other.
 *
 * @throws the errors of `writeBatch`
 */
export async function putInBatch({ table, batchers }: BatchingContext, item: Item): Promise<void> {
  batchers.putItem ??= inBatches(
    batchWriteLimit,
    async (items: Item[]): Promise<undefined[]> => {
      await writeBatch(
        table,
        items.map((Item) => ({ PutRequest: { Item } })),
      );
      return [];
    },
    ({ pk, sk }) => `${pk} ${sk}`,
  );
  await batchers.putItem(item);
}

/** Returns an item, strongly consistent. Reads in one turn of the event loop are batched. */
export function readInBatch({ table, batchers }: BatchingContext, key: Key): Promise<Item | undefined> {
  batchers.readItem ??= inBatches(
    batchReadLimit,
    (keys: Key[]) => getEach(table, keys),
    ({ pk, sk }) => `${pk} ${sk}`,
  );
  return batchers.readItem(key);
}
