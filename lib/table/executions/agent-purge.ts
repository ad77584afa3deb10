import { ulidOf } from '../../contract/ids.ts';
import type { TableContext } from '../access/client.ts';
import { keys } from '../access/keys.ts';
import { transact } from '../access/transact.ts';
import { deletePartition } from '../purges/delete-partition.ts';
import type { AgentPurge } from '../purges/purge-items.ts';
import { purgeExecutions, type ReleaseTask, unlistExecutions } from './execution-removal.ts';

/**
 * Deletes everything that belongs to a deleted agent, and the purge at the end. Each step can be repeated, also by several
 * workers at the same time.
 *
 * @param now the current time; ISO 8601
 */
export async function purgeAgent(
  context: TableContext,
  purge: AgentPurge,
  releaseTask: ReleaseTask,
  now: string,
): Promise<void> {
  const { table } = context;
  const { organization, agentId } = purge;
  const ulid = ulidOf(agentId);
  // The function that deleted the agent may have stopped before its executions were out of the list.
  await unlistExecutions(context, purge);
  await purgeExecutions(context, purge, releaseTask, now);
  for (const pk of keys.agentPartitions(organization, ulid)) await deletePartition(table, pk);
  // Together: a purge whose workers stop after each write must come to its end.
  await transact(table, [
    { Delete: { Key: keys.purge(organization, ulid) } },
    { Delete: { Key: keys.agentWake(organization, ulid) } },
  ]);
}
