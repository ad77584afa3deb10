import type { ExecutionMessage, PurgeMessage } from '../deployment/messages.ts';
import type { Waits } from '../deployment/metrics.ts';
import { type Queue, secondsUntil } from '../sqs/queue.ts';
import { type SweepCall, type Swept, sweep } from '../table/due.ts';
import type { ExecutionHead } from '../table/execution-items.ts';
import type { OverdueExecutions } from '../table/executions.ts';
import type { Purge } from '../table/purge-items.ts';
import type { OverduePurges } from '../table/purges.ts';

/** What wakes workers: where the work that is due is found, and the queue of those who do it. */
type Parts<Store, Message> = { store: Store; queue: Queue<Message>; clock: () => number };

/** What a sweep has woken in vain is for the next one again: a wake-up is cheap, a run that nobody has in hand is not. */
const sweptAgainMs = 60_000;

/** Wakes workers for executions. A wake-up too many finds the execution ended, or in another's hand. */
export function openRunWakeUps({ store, queue, clock }: Parts<OverdueExecutions, ExecutionMessage>) {
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

    /**
     * Wakes the executions that are overdue; see `lib/table/due.ts`.
     *
     * @returns also the longest time that one of them has waited for a worker. One that a worker has is none of them: its
     *   lease ends later
     */
    async sweep(call: SweepCall): Promise<Swept & { waits: Waits }> {
      const now = clock();
      let lateMs = 0;
      const swept = await sweep(store, { ...call, now, againMs: sweptAgainMs }, async (executions) => {
        await wake(executions);
        lateMs = Math.max(lateMs, ...executions.map((execution) => now - freeAt(execution)));
      });
      return { ...swept, waits: { ExecutionsLate: Math.round(lateMs / 1000) } };
    },
  };
}

/** Since when, or from when on, a worker can take an execution: its start, or the end of the lease that it has. */
function freeAt({ leaseUntil, startedAt }: ExecutionHead): number {
  return Date.parse(leaseUntil ?? startedAt);
}

/** Wakes workers for purges. A wake-up too many finds nothing left. */
export function openPurgeWakeUps({ store, queue, clock }: Parts<OverduePurges, PurgeMessage>) {
  const wake = (purges: readonly Purge[]): Promise<void> =>
    queue.send(purges.map((purge) => ({ message: purge, delaySeconds: 0 })));

  return {
    /** Wakes a worker for a purge. */
    wake: (purge: Purge): Promise<void> => wake([purge]),

    /** Wakes the purges that are overdue; see `lib/table/due.ts`. */
    sweep: (call: SweepCall): Promise<Swept> => sweep(store, { ...call, now: clock() }, wake),
  };
}
