import type { Context } from '../context/context.ts';
import { timestamp } from '../contract/ids.ts';
import { consumers } from '../names/consumers.ts';
import { clocksDifferMs } from '../table/access/clocks.ts';
import { runWithRequest } from '../table/access/current-request.ts';
import { purgeAgent } from '../table/executions/agent-purge.ts';
import { type Overdue, postponeDue, readDue, type SweepCall } from '../table/lists/due.ts';
import { type Purge, purgeFrom, purgePartition } from '../table/purges/purge-items.ts';
import { purgeTask } from '../table/tasks/task-removal.ts';
import { moveOnEnd } from './task-moves.ts';

/**
 * Runs the purges that are due, one after the other while there is time. It first postpones each purge until Lambda has
 * stopped this call. Concurrent calls skip the purge until then. If it fails or this call stops, a later call repeats it.
 *
 * @throws the first error of a purge, after the other purges
 */
export async function runDuePurges(context: Context, call: Required<SweepCall>): Promise<{ unfinished: boolean }> {
  const stoppedAt = context.clock() + consumers.purgeAgent.timeoutSeconds * 1000;
  // Not the purges that this call has postponed.
  const until = Math.min(call.until, stoppedAt - 1);
  let failure: { reason: unknown } | undefined;
  let unfinished = false;
  for await (const due of readDuePurges(context, until, call.until)) {
    unfinished = !call.hasTime();
    if (unfinished) break;
    const item = await postponeDue(context, due, timestamp(stoppedAt));
    if (!item) continue;
    const purge = purgeFrom(item);
    try {
      await runWithRequest({ requestId: purge.requestId }, () => runPurge(context, purge));
      context.log.info('message', purge);
    } catch (error) {
      context.log.error('record failed', { ...purge, error: error as Error });
      failure ??= { reason: error };
    }
  }
  if (failure) throw failure.reason;
  return { unfinished };
}

/**
 * Yields the purges that are due, then the purges that are due later than a call can postpone them: a clock that was ahead
 * has postponed these.
 */
async function* readDuePurges(context: Context, until: number, end: number): AsyncGenerator<Overdue> {
  yield* readDue(context, [purgePartition], timestamp(until));
  const tooFarAhead = until + 1 + clocksDifferMs;
  if (end > tooFarAhead) yield* readDue(context, [purgePartition], timestamp(end), timestamp(tooFarAhead));
}

/**
 * Runs a purge: deletes the data of a deleted agent or task (docs/architecture.md#deletions). It can be
 * repeated: after a worker has stopped, the next one does the rest.
 */
export function runPurge(context: Pick<Context, 'table' | 'clock'>, purge: Purge): Promise<void> {
  const now = timestamp(context.clock());
  return 'taskId' in purge
    ? purgeTask(context, purge, now)
    : purgeAgent(context, purge, (task, executionId) => moveOnEnd(task, executionId, 'assigned', now), now);
}
