import { randomUUID } from 'node:crypto';
import { timestamp } from '../contract/ids.ts';
import type { ExecutionMessage } from '../deployment/messages.ts';
import type { Counts } from '../deployment/metrics.ts';
import { graceMs } from '../table/due.ts';
import type { RunningExecution } from '../table/execution-items.ts';
import { Lost } from '../table/execution-steps.ts';
import type { ExecutionStore, TaskMove } from '../table/executions.ts';
import type { PreparingContext } from '../table/prepared-agents.ts';
import { readTask } from '../table/tasks.ts';
import { Conflict } from '../table/transact.ts';
import type { Pause } from './asking.ts';
import { type Hold, holdOn, leaseMs } from './hold.ts';
import { released } from './task-moves.ts';
import { failed, type Result, type Throttled, type Tools, work } from './work.ts';

/** What carries executions out. */
export type RunParts = {
  store: ExecutionStore;
  context: PreparingContext;
  /** Sends the message of an execution, to be received when its lease ends. */
  wake: (execution: RunningExecution) => Promise<void>;
  /** How long an execution may wait for its first worker, in milliseconds. */
  waitingLimitMs: number;
  clock: () => number;
  pause: Pause;
};

const standardWaitingMinutes = 60;

/**
 * Reads how long an execution may wait for its first worker, and returns it in milliseconds; an hour where nothing is
 * set.
 *
 * @param text whole minutes
 * @throws Error for anything but a whole number from 1 to 1440
 */
export function readWaitingLimit(text: string | undefined): number {
  const minutes = text === undefined ? standardWaitingMinutes : /^[1-9]\d{0,3}$/.test(text) ? Number(text) : Number.NaN;
  if (!(minutes <= 1_440))
    throw new Error(
      `WAITING_LIMIT_MINUTES is ${JSON.stringify(text)}; set it to a whole number of minutes from 1 to 1440.`,
    );
  return minutes * 60_000;
}

/** An execution ends so long after its first lease, in milliseconds, whatever was done by then. */
const deadlineMs = 10 * 60_000;

/** One other worker follows a lost one; an execution that two workers lost ends as lost. */
const claimsAllowed = 2;

/** A task that changes all the time does not keep its execution from the end. */
const triesOfMove = 3;

/** A write that meets a fault of the table is repeated, so often and after so long: the work is done and paid for. */
const writePausesMs = [500, 1_000, 2_000, 4_000];

/**
 * After throttling an execution waits without a worker: at first up to 15 s, then up to 30 s, and at least half of
 * that. With the 5 s of a worker's patience it occupies a worker for a quarter of the time at most, after the first wait.
 */
const firstWaitMs = 15_000;
const longestWaitMs = 30_000;

/** Carries executions out (docs/architecture.md#executions). */
export function openRuns({ store, context, wake, waitingLimitMs, clock, pause }: RunParts) {
  return {
    /**
     * Carries an execution out, unless it has ended or another worker has leased it: it may be called again at any time,
     * by several workers at once. A lost worker leaves a lease that runs out; one that has lost its lease does not end
     * the execution. Where a model throttles, the lease is given back and the message is sent again for later.
     *
     * @returns what was counted on the way
     */
    async carryOut({ organization, executionId: id }: ExecutionMessage, tools: Tools): Promise<Counts> {
      const now = clock();
      const lease = { claim: randomUUID(), now: timestamp(now), until: timestamp(now + leaseMs) };
      const execution = await store.claim({ organization, id }, lease);
      if (!execution) return {};
      const deadline = leasedAtOf(execution) + deadlineMs;
      const hold = holdOn(execution, deadline, { renew: store.renew, clock, pause });
      try {
        const outcome = await outcomeOf(execution, deadline, tools, hold.signal);
        if (!outcome || hold.lost()) return {};
        return outcome.status === 'throttled'
          ? await giveBack(execution, deadline, outcome, hold)
          : await end(execution, outcome, hold);
      } finally {
        hold.release();
      }
    },
  };

  /** How an execution ends, or that a model throttles; nothing is asked where it has already failed. */
  async function outcomeOf(
    execution: RunningExecution,
    deadline: number,
    tools: Tools,
    signal: AbortSignal,
  ): Promise<Result | Throttled | undefined> {
    const spent = { tokens: execution.progress?.tokens ?? 0, throttles: 0 };
    if (execution.claims > claimsAllowed) return failed('lost', spent);
    if (leasedAtOf(execution) - Date.parse(execution.startedAt) > waitingLimitMs) return failed('not_started', spent);
    const late = clock() >= deadline;
    // Work that was answered is completed, with the verdicts that there are.
    if (late && execution.outputParts === undefined) return failed('deadline', spent);
    return work(execution, { store, context, pause }, tools, late ? AbortSignal.abort() : signal);
  }

  /** Gives the lease back until later, and sends the message for then. */
  async function giveBack(
    execution: RunningExecution,
    deadline: number,
    { progress, output, throttles }: Throttled,
    hold: Hold,
  ): Promise<Counts> {
    const longest = Math.min(longestWaitMs, firstWaitMs * 2 ** (progress.waits - 1));
    const resumeAt = Math.min(clock() + (longest * (1 + Math.random())) / 2, deadline);
    const until = timestamp(resumeAt);
    const back = { until, dueAt: timestamp(resumeAt + graceMs), progress };
    await written(hold, () => store.giveBack(execution, back, output));
    // Also where the lease is lost: a message too many does nothing, and the write may have been made all the same.
    await wake({ ...execution, leaseUntil: until });
    return throttled(throttles);
  }

  /** Ends an execution and moves its task; does nothing where this worker has lost its lease. */
  async function end(
    execution: RunningExecution,
    { output, throttles, ...result }: Result & { output?: string },
    hold: Hold,
  ): Promise<Counts> {
    const startedAt = Date.parse(execution.startedAt);
    const endedAt = Math.max(clock(), startedAt);
    const ending = { ...result, completedAt: timestamp(endedAt), durationMs: endedAt - startedAt };
    let moves = 1;
    const isOwn = await written(hold, async () => {
      const task = moves > triesOfMove ? undefined : await moveOf(execution, result, ending.completedAt);
      await store.end(execution, ending, { output, task }).catch((error: unknown) => {
        if (error instanceof Conflict) moves++;
        throw error;
      });
    });
    return isOwn ? countsOf(result, throttles) : {};
  }

  /**
   * Makes a write of this worker, again after a conflict or a fault of the table.
   *
   * @returns whether it was made: not where the lease is lost
   */
  async function written(hold: Hold, write: () => Promise<void>): Promise<boolean> {
    const pauses = writePausesMs.values();
    for (;;) {
      try {
        await write();
        return true;
      } catch (error) {
        if (error instanceof Lost) return false;
        if (error instanceof Conflict) continue;
        const { value: wait } = pauses.next();
        if (wait === undefined || hold.lost()) throw error;
        await hold.pause(wait);
      }
    }
  }

  /**
   * Returns how the task moves (docs/architecture.md#the-task-of-an-execution); nothing if it was deleted or moved
   * meanwhile.
   */
  async function moveOf(
    { organization, id, taskId }: RunningExecution,
    { status, selfTest, qaReview }: Pick<Result, 'status' | 'selfTest' | 'qaReview'>,
    now: string,
  ): Promise<TaskMove | undefined> {
    const task = taskId === undefined ? undefined : await readTask(context, organization, taskId);
    const passed = selfTest === 'passed' && qaReview === 'passed';
    return task && released(task, id, status === 'failed' ? 'assigned' : passed ? 'up_for_review' : 'qa_review', now);
  }
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

/** When an execution that is leased was first leased, in milliseconds since 1970. */
function leasedAtOf({ firstLeasedAt }: RunningExecution): number {
  return Date.parse(firstLeasedAt as string);
}
