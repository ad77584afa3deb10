import { ulidOf } from '../contract/ids.ts';
import type { Table } from './client.ts';
import { deletePartition } from './delete-partition.ts';
import { type Overdue, openDueList } from './due.ts';
import { leaveList, purgeExecutions, type Release } from './execution-removal.ts';
import { keys } from './keys.ts';
import { type AgentPurge, type Purge, purgeFrom, purgeLane, type TaskPurge } from './purge-items.ts';
import { purgeTask } from './task-removal.ts';
import { transact } from './transact.ts';

/** What is left of deleted agents and tasks. Each step may be made again, by several at once. */
export function openPurgeStore(table: Table) {
  return {
    /** Takes what belongs to an agent out of everything that can still be read. */
    hide: (purge: AgentPurge): Promise<void> => leaveList(table, purge),

    /** Deletes all that belongs to an agent, and the purge with the last of it. */
    async carryOut(purge: AgentPurge, release: Release): Promise<void> {
      const { organization, agentId } = purge;
      const ulid = ulidOf(agentId);
      // Whoever deleted the agent may have died before its executions were out of the list.
      await leaveList(table, purge);
      await purgeExecutions(table, purge, release);
      for (const pk of keys.agentPartitions(organization, ulid)) await deletePartition(table, pk);
      await transact(table, [{ Delete: { Key: keys.purge(organization, ulid) } }]);
    },

    /** Takes a deleted task out of its dependents, and deletes the purge; see `task-removal.ts`. */
    carryOutOfTask: (purge: TaskPurge, updatedAt: string): Promise<void> => purgeTask(table, purge, updatedAt),
  };
}

export type PurgeStore = ReturnType<typeof openPurgeStore>;

/** The purges that the sweeper's index lists. Apart from the store, which functions of the API carry. */
export function openOverduePurges(table: Table) {
  const waiting = openDueList(table, [purgeLane]);
  return {
    due: waiting.due,

    /** Lists a purge for a later moment and answers it; `undefined` where it is done. */
    async postpone(overdue: Overdue, later: string): Promise<Purge | undefined> {
      const item = await waiting.postpone(overdue, later);
      return item && purgeFrom(item);
    },
  };
}

export type OverduePurges = ReturnType<typeof openOverduePurges>;
