import { randomUUID } from 'node:crypto';
import type { Context } from '../context.ts';
import { timestamp } from '../contract/ids.ts';
import type { ExecutionMessage } from '../deployment/messages.ts';
import type { Counts } from '../deployment/metrics.ts';
import { graceMs } from '../table/due.ts';
import type { RunningExecution } from '../table/execution-items.ts';
import { LeaseLost } from '../table/execution-steps.ts';
import { endExecution, leaseExecution, returnLease, type TaskMove } from '../table/executions.ts';
import { readTask } from '../table/tasks.ts';
import { Conflict } from '../table/transact.ts';
import { sendExecutionMessages } from './execution-messages.ts';
import { failed, generateOutput, type Result, type Throttled, type Tools } from './generate-output.ts';
import { type KeptLease, keepLease, leaseMs } from './keep-lease.ts';
import { moveOnEnd } from './task-moves.ts';

/** An execution ends this time after its first lease, in milliseconds. */
const deadlineMs = 10 * 60_000;

/** How many workers may lose an execution: one worker follows a lost one, then the execution fails as `lost`. */
const leasesAllowed = 2;

/** How often the move of a task that keeps changing is tried; then the execution ends without it. */
const triesOfMove = 3;

/** The pauses after which a write that failed is repeated, in milliseconds. The calls to models are paid for by then. */
const writePausesMs = [500, 1_000, 2_000, 4_000];

/**
 * How long an execution waits without a worker after throttling, in milliseconds: at first up to 15 s, then up to 30 s,
 * and at least half of that. A worker waits 5 s before it returns its lease. So after the first wait an execution occupies
 * a worker for a quarter of the time at most.
 */
const firstWaitMs = 15_000;
const longestWaitMs = 30_000;

/**
 * Runs an execution (docs/architecture.md#executions), unless it has ended or another worker holds its lease. It can be
 * called at any time, by several workers at the same time: a worker that has lost its lease does not end the execution. Where a
 * model throttles, the worker returns the lease and sends the message again for later.
 *
 * @returns what was counted
 */
export async function runExecution(
  context: Context,
  { organization, executionId: id }: ExecutionMessage,
  tools: Tools,
): Promise<Counts> {
  const now = context.clock();
  const request = { leaseId: randomUUID(), now: timestamp(now), until: timestamp(now + leaseMs) };
  const execution = await leaseExecution(context, { organization, id }, request);
  if (!execution) return {};
  const deadline = leasedAtOf(execution) + deadlineMs;
  const lease = keepLease(context, execution, deadline);
  try {
    const outcome = await outcomeOf(context, execution, deadline, tools, lease.signal);
    if (!outcome || lease.lost()) return {};
    return outcome.status === 'throttled'
      ? await postpone(context, execution, deadline, outcome, lease)
      : await end(context, execution, outcome, lease);
  } finally {
    lease.stop();
  }
}

/**
 * Returns how an execution ends, or that a model throttles; `undefined` if its agent was deleted. It asks no model if
 * the execution has failed already.
 */
async function outcomeOf(
  context: Context,
  execution: RunningExecution,
  deadline: number,
  tools: Tools,
  signal: AbortSignal,
): Promise<Result | Throttled | undefined> {
  const spent = { tokens: execution.progress?.tokens ?? 0, throttles: 0 };
  if (execution.claims > leasesAllowed) return failed('lost', spent);
  const waitedMs = leasedAtOf(execution) - Date.parse(execution.startedAt);
  if (waitedMs > context.waitingLimitMs) return failed('not_started', spent);
  const late = context.clock() >= deadline;
  // An execution that has an output is completed, with the verdicts that it has.
  if (late && execution.outputParts === undefined) return failed('deadline', spent);
  return generateOutput(context, execution, tools, late ? AbortSignal.abort() : signal);
}

/** Returns the lease, and sends the message for later. */
async function postpone(
  context: Context,
  execution: RunningExecution,
  deadline: number,
  { progress, output, throttles }: Throttled,
  lease: KeptLease,
): Promise<Counts> {
  const longest = Math.min(longestWaitMs, firstWaitMs * 2 ** (progress.waits - 1));
  const resumeAt = Math.min(context.clock() + (longest * (1 + Math.random())) / 2, deadline);
  const until = timestamp(resumeAt);
  const dueAt = timestamp(resumeAt + graceMs);
  await retryWrite(lease, () => returnLease(context, execution, { until, dueAt, progress }, output));
  // Also where the lease is lost: a message too many does no harm, and the write may have been made.
  await sendExecutionMessages(context, [{ ...execution, leaseUntil: until }]);
  return throttled(throttles);
}

/** Ends an execution and moves its task; does nothing if this worker has lost its lease. */
async function end(
  context: Context,
  execution: RunningExecution,
  { output, throttles, ...result }: Result & { output?: string },
  lease: KeptLease,
): Promise<Counts> {
  const startedAt = Date.parse(execution.startedAt);
  const endedAt = Math.max(context.clock(), startedAt);
  const ending = { ...result, completedAt: timestamp(endedAt), durationMs: endedAt - startedAt };
  let moves = 1;
  const hasEnded = await retryWrite(lease, async () => {
    const task = moves > triesOfMove ? undefined : await moveOf(context, execution, result, ending.completedAt);
    await endExecution(context, execution, ending, { output, task }).catch((error: unknown) => {
      if (error instanceof Conflict) moves++;
      throw error;
    });
  });
  return hasEnded ? countsOf(result, throttles) : {};
}

/**
 * Makes a write of the lease holder, and repeats it after a conflict or a fault of the table.
 *
 * @returns whether it was made; `false` if the lease is lost
 */
async function retryWrite(lease: KeptLease, write: () => Promise<void>): Promise<boolean> {
  const pauses = writePausesMs.values();
  for (;;) {
    try {
      await write();
      return true;
    } catch (error) {
      if (error instanceof LeaseLost) return false;
      if (error instanceof Conflict) continue;
      const { value: wait } = pauses.next();
      if (wait === undefined || lease.lost()) throw error;
      await lease.pause(wait);
    }
  }
}

/**
 * Returns the move of the task at the end of its execution (docs/architecture.md#the-task-of-an-execution); `undefined`
 * if the task was deleted or moved meanwhile.
 */
async function moveOf(
  context: Context,
  { organization, id, taskId }: RunningExecution,
  { status, selfTest, qaReview }: Pick<Result, 'status' | 'selfTest' | 'qaReview'>,
  now: string,
): Promise<TaskMove | undefined> {
  const task = taskId === undefined ? undefined : await readTask(context, organization, taskId);
  const passed = selfTest === 'passed' && qaReview === 'passed';
  return task && moveOnEnd(task, id, status === 'failed' ? 'assigned' : passed ? 'up_for_review' : 'qa_review', now);
}

function countsOf(result: { status: Result['status']; error?: string }, throttles: number): Counts {
  return {
    [result.status === 'completed' ? 'ExecutionsCompleted' : 'ExecutionsFailed']: 1,
    ...(result.error === 'lost' && { WorkLost: 1 }),
    ...throttled(throttles),
  };
}

function throttled(throttles: number): Counts {
  return throttles > 0 ? { ModelThrottles: throttles } : {};
}

/** Returns when a leased execution was first leased (Unix time, in ms). */
function leasedAtOf({ firstLeasedAt }: RunningExecution): number {
  return Date.parse(firstLeasedAt as string);
}
