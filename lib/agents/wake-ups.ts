import type { ExecutionMessage, PurgeMessage } from '../contract/messages.ts';
import { type Queue, secondsUntil } from '../sqs/queue.ts';
import { sweep } from '../table/due.ts';
import type { ExecutionHead } from '../table/execution-items.ts';
import type { ExecutionStore } from '../table/executions.ts';
import type { Purge } from '../table/purge-items.ts';
import type { PurgeStore } from '../table/purges.ts';

/** What wakes workers: where the work that is due is found, and the queue of those who do it. */
type Parts<Store, Message> = { store: Store; queue: Queue<Message>; clock: () => number };

/** What a sweep has woken in vain is for the next one again: a wake-up is cheap, a run that nobody has in hand is not. */
const sweptAgainMs = 60_000;

/** Wakes workers for executions. A wake-up too many finds the execution ended, or in another's hand. */
export function openRunWakeUps({ store, queue, clock }: Parts<ExecutionStore, ExecutionMessage>) {
  const wake = (executions: readonly ExecutionHead[]): Promise<void> =>
    queue.send(
      executions.map(({ organization, id, leaseUntil, requestId }) => ({
        message: { organization, executionId: id, ...(requestId && { requestId }) },
        delaySeconds: leaseUntil === undefined ? 0 : secondsUntil(Date.parse(leaseUntil), clock()),
      })),
    );

  return {
    /** Wakes a worker for an execution. */
    wake: (execution: ExecutionHead): Promise<void> => wake([execution]),

    /** Wakes the executions that are overdue at a moment, and answers how many; see `lib/table/due.ts`. */
    sweep: (until: number): Promise<number> => sweep(store, { until, now: clock(), againMs: sweptAgainMs }, wake),
  };
}

/** Wakes workers for purges. A wake-up too many finds nothing left. */
export function openPurgeWakeUps({ store, queue, clock }: Parts<PurgeStore, PurgeMessage>) {
  const wake = (purges: readonly Purge[]): Promise<void> =>
    queue.send(purges.map((purge) => ({ message: purge, delaySeconds: 0 })));

  return {
    /** Wakes a worker for a purge. */
    wake: (purge: Purge): Promise<void> => wake([purge]),

    /** Wakes the purges that are overdue at a moment, and answers how many; see `lib/table/due.ts`. */
    sweep: (until: number): Promise<number> => sweep(store, { until, now: clock() }, wake),
  };
}
