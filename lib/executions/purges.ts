import type { Context } from '../context.ts';
import { timestamp } from '../contract/ids.ts';
import type { Purge } from '../table/purges/purge-items.ts';
import { purgeAgent } from '../table/purges/purges.ts';
import { purgeTask } from '../table/tasks/task-removal.ts';
import { moveOnEnd } from './task-moves.ts';

/**
 * Runs a purge: deletes the data of a deleted agent or task (docs/architecture.md#deletions). It can be
 * repeated: after a worker has stopped, the next one does the rest.
 */
export function runPurge(context: Pick<Context, 'table' | 'clock'>, purge: Purge): Promise<void> {
  const now = () => timestamp(context.clock());
  return 'taskId' in purge
    ? purgeTask(context, purge, now())
    : purgeAgent(context, purge, (task, executionId) => moveOnEnd(task, executionId, 'assigned', now()));
}
