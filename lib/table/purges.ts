import { ulidOf } from '../contract/ids.ts';
import type { Organization } from '../contract/organization.ts';
import type { Table } from './client.ts';
import { dueEntry, type Overdue, openDueList } from './due.ts';
import { keys, organizationOf } from './keys.ts';
import { queryItems } from './reads.ts';
import { type Item, transact, transactionLimit, type Write } from './transact.ts';

/** What is left of an agent that was deleted: nothing of it can be reached any more, and all of it is to go. */
export type Purge = { organization: Organization; agentId: string };

const lane = 'purge';

/** The kind that the stream tells purges by. */
export const purgeKind = 'purge';

/** The write that leaves a purge behind, overdue from a moment on. */
export function purgeWrite({ organization, agentId }: Purge, dueAt: string): Write {
  const Item = { ...keys.purge(organization, ulidOf(agentId)), kind: purgeKind, ...dueEntry(lane, dueAt) };
  return { Put: { Item } };
}

/** The purge that an item stores. */
export function purgeFrom({ pk, sk }: Item): Purge {
  return { organization: organizationOf(pk as string), agentId: `ag_${sk}` };
}

/** What is left of deleted agents. Each step may be made again, by several at once. */
export function openPurgeStore(table: Table) {
  const waiting = openDueList(table, [lane]);
  return {
    due: waiting.due,

    /** Lists a purge for a later moment and answers it; `undefined` where it is done. */
    async postpone(overdue: Overdue, later: string): Promise<Purge | undefined> {
      const item = await waiting.postpone(overdue, later);
      return item && purgeFrom(item);
    },

    /** Deletes all that belongs to an agent, and the purge with the last of it. */
    async carryOut({ organization, agentId }: Purge): Promise<void> {
      const ulid = ulidOf(agentId);
      for (const pk of keys.agentPartitions(organization, ulid)) await deletePartition(table, pk);
      await transact(table, [{ Delete: { Key: keys.purge(organization, ulid) } }]);
    },
  };
}

export type PurgeStore = ReturnType<typeof openPurgeStore>;

/** Deletes every item of a partition to which nothing is added any more. */
async function deletePartition(table: Table, pk: string): Promise<void> {
  let writes: Write[] = [];
  for await (const { sk } of queryItems(table, { pk })) {
    writes.push({ Delete: { Key: { pk, sk: sk as string } } });
    if (writes.length < transactionLimit) continue;
    await transact(table, writes);
    writes = [];
  }
  if (writes.length > 0) await transact(table, writes);
}
