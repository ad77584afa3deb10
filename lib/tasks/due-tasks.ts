import type { Context } from '../context/context.ts';
import { organizationOf } from '../table/access/keys.ts';
import { type SweepCall, type Swept, sweep } from '../table/lists/due.ts';
import { moveTaskEntry, taskPartitions } from '../table/tasks/due-tasks.ts';
import { taskFrom } from '../table/tasks/task-items.ts';
import { endExpiredClaim } from './claims.ts';
import { settleDependents } from './dependents.ts';

/** How many tasks of a step are looked at at the same time. */
const tasksAtOnce = 10;

/**
 * Looks at the tasks that are due: ends claims that are over, and lets dependents follow whose order was lost.
 *
 * @throws the first error of a task, after the others of its step are done. It is due again in five minutes
 */
export async function sweepTasks(context: Context, call: SweepCall): Promise<Swept> {
  return sweep(context, taskPartitions, call, async (items) => {
    const waiting = items.map((item) => ({ organization: organizationOf(item.pk as string), task: taskFrom(item) }));
    let failure: { reason: unknown } | undefined;
    for (let at = 0; at < waiting.length; at += tasksAtOnce) {
      const done = await Promise.allSettled(
        waiting.slice(at, at + tasksAtOnce).map(async ({ organization, task }) => {
          if (!task.claim) return settleDependents(context, organization, task.id);
          if (await endExpiredClaim(context, organization, task.id)) return;
          await moveTaskEntry(context, organization, task, task.claim.expiresAt);
        }),
      );
      failure ??= done.find((one) => one.status === 'rejected');
    }
    if (failure) throw failure.reason;
  });
}
