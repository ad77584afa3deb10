import { ulidOf } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import type { TableContext } from '../access/client.ts';
import { keys } from '../access/keys.ts';
import { getItem, getItems } from '../access/reads.ts';
import { retryOnConflict, transact } from '../access/transact.ts';
import type { TaskPurge } from '../purges/purge-items.ts';
import { detach, detachLimit } from './task-edges.ts';
import { taskFrom } from './task-items.ts';

/**
 * Removes a deleted task from the `dependsOn` of its dependents, then deletes its purge. It can be repeated, also by several
 * workers at the same time: a dependent that does not name the task any more is skipped.
 *
 * @param updatedAt the new `updatedAt` of the dependents; ISO 8601
 * @throws `ApiError` `unavailable`; the purge is kept then
 */
export async function purgeTask(
  context: TableContext,
  { organization, taskId }: TaskPurge,
  updatedAt: string,
): Promise<void> {
  const { table } = context;
  const Key = keys.taskPurge(organization, ulidOf(taskId));
  const purge = await getItem(table, Key);
  if (!purge) return;
  const dependents = [...(purge.dependents as Set<string>)];
  for (let at = 0; at < dependents.length; at += detachLimit)
    await detachAll(context, organization, dependents.slice(at, at + detachLimit), taskId, updatedAt);
  await transact(table, [{ Delete: { Key } }]);
}

async function detachAll(
  { table }: TableContext,
  organization: Organization,
  dependents: readonly string[],
  taskId: string,
  updatedAt: string,
): Promise<void> {
  const dependentKeys = dependents.map((id) => keys.task(organization, ulidOf(id)));
  await retryOnConflict(table, async () => {
    const naming = (await getItems(table, dependentKeys)).map(taskFrom).filter((one) => one.dependsOn.includes(taskId));
    if (naming.length > 0)
      await transact(
        table,
        naming.map((dependent) => detach(organization, dependent, taskId, updatedAt)),
      );
  });
}
