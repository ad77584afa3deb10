import { inGroups } from '../aws/in-groups.ts';
import type { Context } from '../context/context.ts';
import type { Organization } from '../contract/organization.ts';
import { Conflict, retryOnConflict } from '../table/access/transact.ts';
import { usesFormerLists } from '../table/executions/former-lists.ts';
import { hasOtherDoneness, moveTaskEntry } from '../table/tasks/due-tasks.ts';
import { isHeld, storeHeld } from '../table/tasks/held-tasks.ts';
import type { StoredTask } from '../table/tasks/task-items.ts';
import { readTask, readTasks } from '../table/tasks/tasks.ts';

/**
 * A task is held while one of its dependencies is not done. The transaction that finishes a dependency has no room for up to 500
 * dependents. So the stream sends an order to a worker, which lets the dependents follow. The sweeper's index lists the dependency
 * meanwhile. Readers of ready tasks look at the tasks themselves, so a dependent that has not followed yet is never shown wrongly.
 */

/** How many dependents are read and written at the same time. */
const followersAtOnce = 10;

/** Returns whether the dependents of a task have to follow a change of it. */
export function dependentsFollow(before: StoredTask | undefined, after: StoredTask | undefined): boolean {
  return before !== undefined && after !== undefined && hasOtherDoneness(before, after) && after.dependents.length > 0;
}

/** Lets the dependents of a task follow it, and then takes the task off the sweeper's list. It can be repeated. */
export async function settleDependents(context: Context, organization: Organization, taskId: string): Promise<void> {
  const task = await readTask(context, organization, taskId);
  if (!task) return;
  for await (const ids of inGroups(eachOf(task.dependents), followersAtOnce))
    await Promise.all(ids.map((id) => settle(context, organization, id)));
  if (!task.claim) await moveTaskEntry(context, organization, task, undefined);
}

/** Stores whether a task is held, as its item and its dependencies say now. */
export async function settle(context: Context, organization: Organization, id: string): Promise<void> {
  await retryOnConflict(context.table, async () => {
    const task = await readTask(context, organization, id);
    if (!task) return;
    const dependencies = await readTasks(context, organization, task.dependsOn);
    const held = isHeld(task, dependencies);
    if (held === (task.held === true)) return;
    if (held && (await usesFormerLists(context, organization, context.clock()))) return;
    if (!(await storeHeld(context, organization, task, dependencies))) throw new Conflict();
  });
}

async function* eachOf<Entry>(entries: readonly Entry[]): AsyncGenerator<Entry> {
  yield* entries;
}
