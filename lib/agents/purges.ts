import { timestamp } from '../contract/ids.ts';
import type { PurgeMessage } from '../contract/messages.ts';
import type { Queue } from '../sqs/queue.ts';
import { sweep } from '../table/due.ts';
import type { Purge, PurgeStore } from '../table/purges.ts';
import { released } from './task-moves.ts';

/** What purges are made of. */
export type PurgeParts = { store: PurgeStore; queue: Queue<PurgeMessage>; clock: () => number };

/** Purges: what is left of deleted agents goes behind the answer (design §4). Each may be carried out again. */
export function openPurges({ store, queue, clock }: PurgeParts) {
  const wake = (purges: readonly Purge[]): Promise<void> =>
    queue.send(purges.map((purge) => ({ message: purge, delaySeconds: 0 })));

  return {
    /** Wakes a worker for a purge. */
    wake: (purge: Purge): Promise<void> => wake([purge]),

    /** Deletes what is left of an agent. A worker that is killed leaves the rest for the next. */
    carryOut: (purge: Purge): Promise<void> =>
      store.carryOut(purge, (task, executionId) => released(task, executionId, 'assigned', timestamp(clock()))),

    /** Wakes the purges that are overdue at a moment, and answers how many; see `lib/table/due.ts`. */
    sweep: (until: number): Promise<number> => sweep(store, { until, now: clock() }, wake),
  };
}
