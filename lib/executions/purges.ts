import type { Context } from '../context.ts';
import { timestamp } from '../contract/ids.ts';
import type { Purge } from '../table/purge-items.ts';
import { purgeAgent } from '../table/purges.ts';
import { purgeTask } from '../table/task-removal.ts';
import { released } from './task-moves.ts';

/**
 * Carries out a purge: deletes what belongs to a deleted agent or task (docs/architecture.md#deletions). It may be carried
 * out again; a worker that is killed leaves the rest for the next.
 */
export function carryOutPurge(context: Pick<Context, 'table' | 'clock'>, purge: Purge): Promise<void> {
  const now = () => timestamp(context.clock());
  return 'taskId' in purge
    ? purgeTask(context.table, purge, now())
    : purgeAgent(context, purge, (task, executionId) => released(task, executionId, 'assigned', now()));
}
