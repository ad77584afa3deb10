import { timestamp } from '../contract/ids.ts';
import type { Purge, PurgeStore } from '../table/purges.ts';
import { released } from './task-moves.ts';

/** What purges are made of. */
export type PurgeParts = { store: PurgeStore; clock: () => number };

/** Purges: what is left of deleted agents goes behind the answer (design §4). Each may be carried out again. */
export function openPurges({ store, clock }: PurgeParts) {
  return {
    /** Deletes what is left of an agent. A worker that is killed leaves the rest for the next. */
    carryOut: (purge: Purge): Promise<void> =>
      store.carryOut(purge, (task, executionId) => released(task, executionId, 'assigned', timestamp(clock()))),
  };
}
