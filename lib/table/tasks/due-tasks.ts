import { timestamp, ulidOf } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import { tableSchema } from '../../names/table-schema.ts';
import type { TableContext } from '../access/client.ts';
import { keys } from '../access/keys.ts';
import { Conflict, transactIfFirst } from '../access/transact.ts';
import type { Write } from '../access/write.ts';
import { dueEntry, graceMs } from '../lists/due.ts';
import type { StoredTask } from './task-items.ts';

/**
 * The sweeper looks at a task when its claim expires, and a minute after a change that its dependents may not have followed:
 * the message that makes them follow can be lost.
 */

/** The partitions of the sweeper's index that list tasks. Claims write them, so they are several. */
export const taskPartitions = ['k0', 'k1', 'k2', 'k3'] as const;

function taskPartition(id: string): string {
  return taskPartitions[id.charCodeAt(id.length - 1) % taskPartitions.length] as string;
}

/** Returns whether a task is done where it was not, or the other way round. */
export function hasOtherDoneness(before: Pick<StoredTask, 'status'>, after: Pick<StoredTask, 'status'>): boolean {
  return (before.status === 'done') !== (after.status === 'done');
}

/** Returns a changed task with its entry in the sweeper's index. */
export function withEntry(before: StoredTask, after: StoredTask): StoredTask {
  const dueAt = lookedAt(before, after);
  if (dueAt === before.dueAt) return after;
  const { due, dueAt: former, ...rest } = after;
  return dueAt === undefined ? rest : { ...rest, ...dueEntry(taskPartition(after.id), dueAt) };
}

function lookedAt(before: StoredTask, after: StoredTask): string | undefined {
  if (after.claim) return after.claim.expiresAt;
  if (after.dependents.length > 0 && hasOtherDoneness(before, after))
    return timestamp(Date.parse(after.updatedAt) + graceMs);
  return before.claim ? undefined : before.dueAt;
}

/**
 * Moves the entry of a task in the sweeper's index, or removes it, unless it has changed since it was read.
 *
 * @param dueAt when the sweeper looks again; ISO 8601. It does not if absent
 */
export async function moveTaskEntry(
  { table }: TableContext,
  organization: Organization,
  task: StoredTask,
  dueAt: string | undefined,
): Promise<void> {
  if (task.dueAt === undefined) return;
  const { partitionKey, sortKey } = tableSchema.dueIndex;
  const write: Write = {
    Update: {
      Key: keys.task(organization, ulidOf(task.id)),
      UpdateExpression: dueAt === undefined ? 'REMOVE #due, #dueAt' : 'SET #dueAt = :dueAt',
      ConditionExpression: '#dueAt = :read',
      ExpressionAttributeNames: { ...(dueAt === undefined && { '#due': partitionKey }), '#dueAt': sortKey },
      ExpressionAttributeValues: { ':read': task.dueAt, ...(dueAt !== undefined && { ':dueAt': dueAt }) },
    },
    onConditionFailed: () => new Conflict(),
  };
  await transactIfFirst(table, [write]);
}
