import { ulidOf } from '../contract/ids.ts';
import type { Table, TableContext } from './client.ts';
import { deletePartition } from './delete-partition.ts';
import { type Overdue, openDueList } from './due.ts';
import { leaveList, purgeExecutions, type Release } from './execution-removal.ts';
import { keys } from './keys.ts';
import { type AgentPurge, type Purge, purgeFrom, purgePartition } from './purge-items.ts';
import { transact } from './transact.ts';

/**
 * Deletes all that belongs to a deleted agent, and the purge with the last of it. Each step may be made again, by several at
 * once.
 */
export async function purgeAgent({ table }: TableContext, purge: AgentPurge, release: Release): Promise<void> {
  const { organization, agentId } = purge;
  const ulid = ulidOf(agentId);
  // Whoever deleted the agent may have died before its executions were out of the list.
  await leaveList(table, purge);
  await purgeExecutions(table, purge, release);
  for (const pk of keys.agentPartitions(organization, ulid)) await deletePartition(table, pk);
  await transact(table, [{ Delete: { Key: keys.purge(organization, ulid) } }]);
}

/** The purges that the sweeper's index lists. */
export function openOverduePurges(table: Table) {
  const waiting = openDueList(table, [purgePartition]);
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
