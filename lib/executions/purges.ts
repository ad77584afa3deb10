import { timestamp } from '../contract/ids.ts';
import type { Purge } from '../table/purge-items.ts';
import type { PurgeStore } from '../table/purges.ts';
import { released } from './task-moves.ts';

/** What purges are made of. */
export type PurgeParts = { store: PurgeStore; clock: () => number };

/**
 * Purges: delete what belongs to deleted agents and tasks (docs/architecture.md#deletions). Each may be carried out
 * again.
 */
export function openPurges({ store, clock }: PurgeParts) {
  return {
    /** Deletes what is left of an agent or a task. A worker that is killed leaves the rest for the next. */
    carryOut: (purge: Purge): Promise<void> =>
      'taskId' in purge
        ? store.carryOutOfTask(purge, timestamp(clock()))
        : store.carryOut(purge, (task, executionId) => released(task, executionId, 'assigned', timestamp(clock()))),
  };
}
