import { ulidOf } from '../contract/ids.ts';
import type { Organization } from '../contract/organization.ts';
import { requestFields } from '../request-context.ts';
import { dueEntry } from './due.ts';
import { type Key, keys, organizationOf } from './keys.ts';
import type { Item, Write } from './write.ts';

/** What every purge has: whose it is, and the request that has deleted something, as far as it is known. */
type OfRequest = { organization: Organization; requestId?: string | undefined };

/** What is left of an agent that was deleted: nothing of it can be reached any more, and all of it is to go. */
export type AgentPurge = OfRequest & { agentId: string };

/** A deleted task whose id is still in the `dependsOn` of some of its dependents. */
export type TaskPurge = OfRequest & { taskId: string };

/** What is left to be done for something that was deleted. */
export type Purge = AgentPurge | TaskPurge;

/** The partition of the sweeper's index that lists purges. */
export const purgePartition = 'purge';

/** The kind that the stream tells purges by. */
export const purgeKind = 'purge';

/** The write that leaves the purge of an agent behind, overdue from a moment on. */
export function agentPurgeWrite({ organization, agentId }: AgentPurge, dueAt: string): Write {
  return purgeWrite(keys.purge(organization, ulidOf(agentId)), dueAt);
}

/** The write that leaves the purge of a task behind, overdue from a moment on, with the dependents that name the task. */
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

/** The purge that an item stores. */
export function purgeFrom({ pk, sk, requestId }: Item): Purge {
  const organization = organizationOf(pk as string);
  const isOfTask = pk === keys.taskPurge(organization, '').pk;
  return {
    organization,
    ...(isOfTask ? { taskId: `tk_${sk}` } : { agentId: `ag_${sk}` }),
    ...(requestId !== undefined && { requestId: requestId as string }),
  };
}
