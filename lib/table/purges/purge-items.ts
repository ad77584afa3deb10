import { ulidOf } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import { requestFields } from '../access/current-request.ts';
import { type Key, keys, organizationOf } from '../access/keys.ts';
import type { Item, Write } from '../access/write.ts';
import { dueEntry } from '../lists/due.ts';

/** The fields of every purge: its organization, and the id of the request that deleted something, if known. */
type PurgeFields = { organization: Organization; requestId?: string | undefined };

/** The remaining items of a deleted agent, which no request can reach any more. */
export type AgentPurge = PurgeFields & { agentId: string };

/** A deleted task whose id is still in the `dependsOn` of some of its dependents. */
export type TaskPurge = PurgeFields & { taskId: string };

/** The purge of a deleted agent or task: the items that remain to be deleted or changed. */
export type Purge = AgentPurge | TaskPurge;

/** The partition of the sweeper's index that lists purges. */
export const purgePartition = 'purge';

/** The kind of purge items in the stream. */
export const purgeKind = 'purge';

/** Returns the write that puts the purge of an agent, overdue from `dueAt` on. */
export function agentPurgeWrite({ organization, agentId }: AgentPurge, dueAt: string): Write {
  return purgeWrite(keys.purge(organization, ulidOf(agentId)), dueAt);
}

/** Returns the write that puts the purge of a task, overdue from `dueAt` on, with the dependents that name the task. */
export function taskPurgeWrite(
  { organization, taskId }: TaskPurge,
  dependents: readonly string[],
  dueAt: string,
): Write {
  return purgeWrite(keys.taskPurge(organization, ulidOf(taskId)), dueAt, { dependents: new Set(dependents) });
}

function purgeWrite(key: Key, dueAt: string, more: Item = {}): Write {
  return {
    Put: { Item: { ...key, kind: purgeKind, ...more, ...requestFields(), ...dueEntry(purgePartition, dueAt) } },
  };
}

/** Returns the purge that an item stores. */
export function purgeFrom({ pk, sk, requestId }: Item): Purge {
  const organization = organizationOf(pk as string);
  const isOfTask = pk === keys.taskPurge(organization, '').pk;
  return {
    organization,
    ...(isOfTask ? { taskId: `tk_${sk}` } : { agentId: `ag_${sk}` }),
    ...(requestId !== undefined && { requestId: requestId as string }),
  };
}
