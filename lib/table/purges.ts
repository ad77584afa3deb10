import { ulidOf } from '../contract/ids.ts';
import type { Organization } from '../contract/organization.ts';
import type { Table } from './client.ts';
import { deletePartition } from './delete-partition.ts';
import { dueEntry, type Overdue, openDueList } from './due.ts';
import { leaveList, purgeExecutions, type Release } from './execution-removal.ts';
import { keys, organizationOf } from './keys.ts';
import { traced } from './trace.ts';
import { type Item, transact, type Write } from './transact.ts';

/** What is left of an agent that was deleted: nothing of it can be reached any more, and all of it is to go. */
export type Purge = {
  organization: Organization;
  agentId: string;
  /** The request that has deleted it, as far as it is known. */
  requestId?: string;
};

const lane = 'purge';

/** The kind that the stream tells purges by. */
export const purgeKind = 'purge';

/** The write that leaves a purge behind, overdue from a moment on. */
export function purgeWrite({ organization, agentId }: Purge, dueAt: string): Write {
  const Item = { ...keys.purge(organization, ulidOf(agentId)), kind: purgeKind, ...traced(), ...dueEntry(lane, dueAt) };
  return { Put: { Item } };
}

/** The purge that an item stores. */
export function purgeFrom({ pk, sk, requestId }: Item): Purge {
  return {
    organization: organizationOf(pk as string),
    agentId: `ag_${sk}`,
    ...(requestId !== undefined && { requestId: requestId as string }),
  };
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

    /** Takes what belongs to an agent out of everything that can still be read. */
    hide: (purge: Purge): Promise<void> => leaveList(table, purge),

    /** Deletes all that belongs to an agent, and the purge with the last of it. */
    async carryOut(purge: Purge, release: Release): Promise<void> {
      const { organization, agentId } = purge;
      const ulid = ulidOf(agentId);
      // Whoever deleted the agent may have died before its executions were out of the list.
      await leaveList(table, purge);
      await purgeExecutions(table, purge, release);
      for (const pk of keys.agentPartitions(organization, ulid)) await deletePartition(table, pk);
      await transact(table, [{ Delete: { Key: keys.purge(organization, ulid) } }]);
    },
  };
}

export type PurgeStore = ReturnType<typeof openPurgeStore>;
