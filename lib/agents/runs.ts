import { randomUUID } from 'node:crypto';
import { timestamp } from '../contract/ids.ts';
import type { ExecutionMessage } from '../contract/messages.ts';
import type { Counts } from '../contract/metrics.ts';
import type { AgentStore } from '../table/agents.ts';
import type { RunningExecution } from '../table/execution-items.ts';
import { Lost } from '../table/execution-steps.ts';
import type { ExecutionStore, TaskMove } from '../table/executions.ts';
import type { TaskStore } from '../table/tasks.ts';
import { Stale } from '../table/transact.ts';
import type { Pause } from './asking.ts';
import { type Hold, holdOn, leaseMs } from './hold.ts';
import { released } from './task-moves.ts';
import { failed, type Result, type Tools, work } from './work.ts';

/** What carries executions out. */
export type RunParts = {
  store: ExecutionStore;
  agents: AgentStore;
  tasks: TaskStore;
  clock: () => number;
  pause: Pause;
};

/** An execution ends so long after its start, in milliseconds, whatever it has come to. */
const deadlineMs = 10 * 60_000;

/** One other worker follows one that died; an execution that two have died of is given up. */
const claimsAllowed = 2;

/** A task that changes all the time does not keep its execution from the end. */
const triesOfMove = 3;

/** An end that meets a fault of the table is written again, so often and after so long: the work is done and paid for. */
const endPausesMs = [500, 1_000, 2_000, 4_000];

/** Carries executions out (design §5). */
export function openRuns({ store, agents, tasks, clock, pause }: RunParts) {
  return {
    /**
     * Carries an execution out, unless it has ended or is in another's hand: it may be run again at any time, by several
     * at once. A worker that dies on the way leaves a lease that runs out; one that has lost its hold says nothing of how
     * it ended.
     *
     * @returns what was counted on the way
     */
    async carryOut({ organization, executionId: id }: ExecutionMessage, tools: Tools): Promise<Counts> {
      const now = clock();
      const lease = { claim: randomUUID(), now: timestamp(now), until: timestamp(now + leaseMs) };
      const execution = await store.claim({ organization, id }, lease);
      if (!execution) return {};
      const deadline = Date.parse(execution.startedAt) + deadlineMs;
      const hold = holdOn(execution, deadline, { renew: store.renew, clock, pause });
      try {
        const result = await resultOf(execution, deadline, tools, hold.signal);
        return result && !hold.lost() ? await end(execution, result, hold) : {};
      } finally {
        hold.release();
      }
    },
  };

  /** What an execution comes to; one that two workers have died of, or whose time is up, is not worked on any more. */
  async function resultOf(
    execution: RunningExecution,
    deadline: number,
    tools: Tools,
    signal: AbortSignal,
  ): Promise<Result | undefined> {
    if (execution.claims > claimsAllowed) return failed('lost');
    if (clock() >= deadline) return failed('deadline');
    return work(execution, { store, agents, tasks, pause }, tools, signal);
  }

  /** Ends an execution and moves its task, or drops what it has come to where it is not this worker's any more. */
  async function end(
    execution: RunningExecution,
    { output, throttles, ...result }: Result & { output?: string },
    hold: Hold,
  ): Promise<Counts> {
    const startedAt = Date.parse(execution.startedAt);
    const endedAt = Math.max(clock(), startedAt);
    const ending = { ...result, completedAt: timestamp(endedAt), durationMs: endedAt - startedAt };
    const pauses = endPausesMs.values();
    for (let moves = 1; ; ) {
      try {
        const task = moves > triesOfMove ? undefined : await moveOf(execution, result, ending.completedAt);
        await store.end(execution, ending, { output, task });
        return countsOf(result, throttles);
      } catch (error) {
        if (error instanceof Lost) return {};
        if (error instanceof Stale) moves++;
        else {
          const { value: wait } = pauses.next();
          if (wait === undefined || hold.lost()) throw error;
          await hold.pause(wait);
        }
      }
    }
  }

  /** What becomes of the task (design §2); nothing where it was deleted or moved meanwhile. */
  async function moveOf(
    { organization, id, taskId }: RunningExecution,
    { status, selfTest, qaReview }: Pick<Result, 'status' | 'selfTest' | 'qaReview'>,
    now: string,
  ): Promise<TaskMove | undefined> {
    const task = taskId === undefined ? undefined : await tasks.get(organization, taskId);
    const passed = selfTest === 'passed' && qaReview === 'passed';
    return task && released(task, id, status === 'failed' ? 'assigned' : passed ? 'up_for_review' : 'qa_review', now);
  }
}

function countsOf(result: { status: Result['status']; error?: string }, throttles: number): Counts {
  return {
    [result.status === 'completed' ? 'ExecutionsCompleted' : 'ExecutionsFailed']: 1,
    ...(result.error === 'lost' && { ExecutionsLost: 1 }),
    ...(throttles > 0 && { ModelThrottles: throttles }),
  };
}
