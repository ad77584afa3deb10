import { secondsUntil, sendMessages } from '../../aws/queue.ts';
import type { Context } from '../../context/context.ts';
import type { Waits } from '../../names/metrics.ts';
import { type ExecutionHead, executionFrom, executionPartition } from '../../table/executions/execution-items.ts';
import { executionLeaseMs, leaseLookedAt } from '../../table/lease.ts';
import { type SweepCall, type Swept, sweep } from '../../table/lists/due.ts';

/** How long a sweep leaves an execution alone after it has sent its message, in milliseconds. */
const sweptAgainMs = 60_000;

/**
 * Sends the messages of executions, to be received when their leases expire. A superfluous message does no harm: its worker
 * finds that the execution has ended or that another worker holds the lease.
 */
export function sendExecutionMessages(context: Context, executions: readonly ExecutionHead[]): Promise<void> {
  const delayOf = (leaseUntil: string) => {
    const now = context.clock();
    return secondsUntil(leaseLookedAt(Date.parse(leaseUntil), now, executionLeaseMs), now);
  };
  return sendMessages(
    context,
    'executions',

    executions.map(({ organization, id, leaseUntil, requestId }) => ({
      message: { organization, executionId: id, ...(requestId && { requestId }) },
      delaySeconds: leaseUntil === undefined ? 0 : delayOf(leaseUntil),
    })),
  );
}

/**
 * Sends the messages of executions that are overdue; see `lib/table/lists/due.ts`.
 *
 * @returns also the longest time that one of them has waited for a worker. An execution that a worker has leased does not
 *   count: its lease expires later
 */
export async function sweepExecutions(context: Context, call: SweepCall): Promise<Swept & { waits: Waits }> {
  const now = context.clock();
  let lateMs = 0;
  const swept = await sweep(context, [executionPartition], { ...call, againMs: sweptAgainMs }, async (items) => {
    const executions = items.map(executionFrom);
    await sendExecutionMessages(context, executions);
    lateMs = Math.max(lateMs, ...executions.map((execution) => now - freeAt(execution)));
  });
  return { ...swept, waits: { ExecutionsLate: Math.round(lateMs / 1000) } };
}

/** Returns when a worker can lease an execution (Unix time, in ms): its start, or the expiry of its lease. */
function freeAt({ leaseUntil, startedAt }: ExecutionHead): number {
  return Date.parse(leaseUntil ?? startedAt);
}
