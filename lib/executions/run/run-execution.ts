import { randomUUID } from 'node:crypto';
import type { Context } from '../../context/context.ts';
import type { GateReasons, QualityGates } from '../../contract/executions/quality-gates.ts';
import { timestamp } from '../../contract/ids.ts';
import type { ExecutionMessage } from '../../names/messages.ts';
import type { Counts } from '../../names/metrics.ts';
import { runAs } from '../../table/access/current-request.ts';
import { Conflict } from '../../table/access/transact.ts';
import { readAgentHead } from '../../table/agents/agents.ts';
import {
  endingTokens,
  type RunningExecution,
  stepCountOf,
  taskFieldsOf,
} from '../../table/executions/execution-items.ts';
import {
  endExecution,
  leaseExecution,
  readExecutionHead,
  returnLease,
  type TaskMove,
} from '../../table/executions/executions.ts';
import { countLateTokens } from '../../table/executions/late-tokens.ts';
import { AgentChanged, LeaseLost } from '../../table/executions/lease-writes.ts';
import { executionLeaseMs } from '../../table/lease.ts';
import { graceMs } from '../../table/lists/due.ts';
import type { StoredTask } from '../../table/tasks/task-items.ts';
import { readTask } from '../../table/tasks/tasks.ts';
import { moveOnEnd, noteEnd } from '../task-moves.ts';
import { agentNotActive, readAgain } from './changed-agent.ts';
import { sendExecutionMessages } from './execution-messages.ts';
import {
  failed,
  generateOutput,
  hasWaited,
  type Postponed,
  type Result,
  type RunResources,
} from './generate-output.ts';
import { type HandOver, startHandOver } from './hand-over.ts';
import { type KeptLease, keepLease } from './keep-lease.ts';
import { retryFaults } from './retry-faults.ts';
import { leasesAllowed, type Spending, startSpending, totalOf, uncountedLosses } from './spending.ts';

/** The log fields of an execution that a worker has ended, or that another worker has to continue. */
export type ExecutionFields = Partial<QualityGates> & {
  agentName: string;
  status: 'completed' | 'failed' | 'throttled' | 'handed_over';
  durationMs?: number;
  error?: string;
};

/** The result of a message: counts for the metrics, and the fields of the execution if the worker changed it. */
type Ran = { counts?: Counts } & Partial<ExecutionFields>;

/**
 * An execution that was leased so often fails as `lost` without a further read. The leases before count what its lost
 * workers have spent, which reads everything that a worker reads.
 */
const leasesCounted = 5;

/** How often the end of an execution tries to move its task. After as many conflicts the task stays as it is. */
const maxMoveTries = 3;

/**
 * The maximum time until another worker continues a throttled execution, in milliseconds: 15 s the first time, 30 s from
 * the second time on. The minimum is half of that. A worker waits 5 s for the model before it returns its lease. So after
 * the first wait, an execution occupies a worker for at most a quarter of the time.
 */
const firstMaxWaitMs = 15_000;
const laterMaxWaitMs = 30_000;

/** An execution that is handed over can be leased at once, also by a worker whose clock is behind by this, in milliseconds. */
const clockSkewMs = 1_000;

/**
 * Runs an execution (docs/architecture.md#executions), unless it has ended or another worker holds its lease. Several
 * workers can call it at the same time: a worker that has lost its lease does not end the execution. If a model
 * throttles, the worker returns the lease and sends the message again with a delay; if the time of the worker is over,
 * without one. If the agent is not active any more, the execution fails.
 */
export async function runExecution(
  context: Context,
  { organization, executionId: id }: ExecutionMessage,
  tools: RunResources,
): Promise<Ran> {
  const now = context.clock();
  const request = { leaseId: randomUUID(), now: timestamp(now), until: timestamp(now + executionLeaseMs) };
  const execution = await leaseExecution(context, { organization, id }, request);
  if (!execution) return {};
  const { agentName: name, agentId } = execution;
  return runAs({ kind: 'agent', name, id: agentId, executionId: id }, () => run(context, execution, tools));
}

/** Runs a leased execution in the name of its agent. */
async function run(context: Context, execution: RunningExecution, tools: RunResources): Promise<Ran> {
  const deadline = leasedAtOf(execution) + context.executionLimits.durationMs;
  const lease = keepLease(context, execution, deadline);
  const handOver = startHandOver(context, deadline);
  const spending = startSpending(execution);
  try {
    const outcome = await outcomeOf(context, execution, deadline, tools, lease, handOver, spending);
    if (!outcome || lease.lost()) return {};
    return await store(context, outcome.execution ?? execution, deadline, outcome, tools, lease, spending);
  } catch (error) {
    // Another worker continues the execution, or has ended it.
    if (error instanceof LeaseLost) return {};
    throw error;
  } finally {
    lease.stop();
    handOver.stop();
    await countUnstored(context, execution, spending);
  }
}

/**
 * Counts the tokens that a worker has paid for and no write has stored: its lease is lost, or something failed. The count
 * is repeated after a fault of the table.
 */
async function countUnstored(context: Context, execution: RunningExecution, spending: Spending): Promise<void> {
  const { stored } = spending;
  if (spending.used === stored) return;
  const now = timestamp(context.clock());
  await retryFaults(() => countLateTokens(context, execution, { ...totalOf(spending), stored }, now), {
    isFinal: () => false,
    pause: (wait) => context.pause(wait, new AbortController().signal),
  });
}

/**
 * Returns the result of an execution, or that another worker has to continue; `undefined` if its agent was deleted. It
 * calls no model if the execution has already failed: after lost workers, a long wait or its deadline.
 */
async function outcomeOf(
  context: Context,
  execution: RunningExecution,
  deadline: number,
  tools: RunResources,
  { signal, agent }: KeptLease,
  handOver: HandOver,
  spending: Spending,
): Promise<Result | Postponed | undefined> {
  const isOver = context.clock() >= deadline;
  const failure = failureOf(context, execution, isOver);
  // No worker of an execution that waited too long asks a model.
  const isCounted = uncountedLosses(execution) === 0 || failure === 'not_started' || execution.claims > leasesCounted;
  if (failure !== undefined && isCounted) return failed(failure, spending.used, 0, hasWaited(execution));
  const ends = isOver ? AbortSignal.abort() : signal;
  try {
    return await generateOutput(context, execution, tools, ends, handOver, agent, spending, failure);
  } catch (error) {
    // What has made its workers fail must not keep the execution from its end.
    if (failure === undefined || error instanceof LeaseLost) throw error;
    return failed(failure, spending.used, 0, hasWaited(execution));
  }
}

/** Returns the error of an execution that has failed before this worker; `undefined` if it goes on. */
function failureOf(context: Context, execution: RunningExecution, isOver: boolean): string | undefined {
  if (execution.claims > leasesAllowed) return 'lost';
  const waitedMs = leasedAtOf(execution) - Date.parse(execution.startedAt);
  if (waitedMs > context.waitingLimitMs) return 'not_started';
  // An execution with an output is completed, with the verdicts that it has.
  return isOver && execution.outputParts === undefined ? 'deadline' : undefined;
}

/**
 * Stores the result of an execution, or what another worker continues from. If the agent was changed since this worker read
 * it, it is read again first: of an agent that is not active, no result is stored but the failure.
 */
async function store(
  context: Context,
  execution: RunningExecution,
  deadline: number,
  reached: Result | Postponed,
  tools: RunResources,
  lease: KeptLease,
  spending: Spending,
): Promise<Ran> {
  const outcome = lease.isAgentActive() ? reached : stopped(reached, spending);
  try {
    return 'progress' in outcome
      ? await postpone(context, execution, deadline, outcome, lease, spending)
      : await end(context, execution, outcome, tools, lease, spending);
  } catch (error) {
    if (!(error instanceof AgentChanged)) throw error;
    let [current, isActive] = [execution, false];
    const isHeld = await retryWrite(lease, async () => {
      const { execution: head, agent } = await readAgain(context, execution);
      const { agentMark } = head;
      current = { ...execution, ...(agentMark !== undefined && { agentMark }) };
      isActive = agent.agent.status === 'active';
    });
    const allowed = isActive ? outcome : stopped(outcome, spending);
    return isHeld ? store(context, current, deadline, allowed, tools, lease, spending) : {};
  }
}

/** Returns the failure of an execution whose agent is not active any more, in place of its outcome. */
function stopped(outcome: Result | Postponed, { used }: Spending): Result {
  const { throttles, execution } = outcome;
  const { timings } = 'progress' in outcome ? outcome.progress : outcome;
  return {
    ...failed(agentNotActive, used, throttles),
    ...(timings && { timings }),
    ...(execution && { execution }),
  };
}

/** Returns the lease to the table, and sends the message again: with a delay if a model throttles. */
async function postpone(
  context: Context,
  execution: RunningExecution,
  deadline: number,
  { status, output, gateReasons, throttles, ...postponed }: Postponed,
  lease: KeptLease,
  spending: Spending,
): Promise<Ran> {
  const now = context.clock();
  const progress = { ...postponed.progress, ...totalOf(spending) };
  const maxWaitMs = Math.min(laterMaxWaitMs, firstMaxWaitMs * 2 ** (progress.waits - 1));
  const resumeAt =
    status === 'handed_over' ? now - clockSkewMs : Math.min(now + (maxWaitMs * (1 + Math.random())) / 2, deadline);
  const until = timestamp(resumeAt);
  const dueAt = timestamp(Math.max(resumeAt, now) + graceMs);
  const isReturned = await retryWrite(lease, () =>
    returnLease(context, execution, { until, dueAt, progress }, output, gateReasons),
  );
  if (isReturned) spending.stored = progress.tokens;
  // Send the message even if the lease is lost. The write may have been made, and a superfluous message does no harm.
  await sendExecutionMessages(context, [{ ...execution, leaseUntil: until }]);
  return { counts: throttled(throttles), agentName: execution.agentName, status };
}

/** Ends an execution and moves its task. Does nothing if this worker has lost its lease. */
async function end(
  context: Context,
  execution: RunningExecution,
  outcome: Result & { output?: string; gateReasons?: GateReasons },
  { answeringModel = (model) => model }: RunResources,
  lease: KeptLease,
  spending: Spending,
): Promise<Ran> {
  const { output, gateReasons, throttles, execution: _, timings: known, ...result } = outcome;
  const timings = known ?? execution.progress?.timings;
  const startedAt = Date.parse(execution.startedAt);
  const endedAt = Math.max(context.clock(), startedAt);
  const model = answeringModel(execution.model);
  const ending = {
    ...result,
    ...(model !== execution.model && { model }),
    completedAt: timestamp(endedAt),
    durationMs: lease.elapsedSince(startedAt),
    ...(timings && { timings }),
    stepCount: stepCountOf({ ...execution, ...result, timings }),
  };
  let moveTries = 1;
  let { late } = execution;
  const hasEnded = await retryWrite(lease, async () => {
    const found = await readTaskOf(context, execution);
    const autoAccepts = found && hasPassed(result) && (await acceptsItself(context, execution));
    const move =
      found && moveTries <= maxMoveTries
        ? (moveOf(found, execution, result, ending.completedAt, autoAccepts) ?? noteEnd(found, execution.id))
        : undefined;
    const current = { ...execution, ...(late && { late }) };
    const whole = {
      ...ending,
      ...endingTokens(current, totalOf(spending)),
      ...(found && { taskFields: taskFieldsOf(found) }),
    };
    try {
      await endExecution(context, current, whole, { output, gateReasons, task: move });
    } catch (error) {
      if (error instanceof Conflict) {
        moveTries++;
        late = (await readExecutionHead(context, execution))?.late;
      }
      throw error;
    }
  });
  if (!hasEnded) return {};
  spending.stored = spending.used;
  return { counts: countsOf(result, throttles), ...fieldsOf(execution, { ...result, durationMs: ending.durationMs }) };
}

/** Returns the log fields of an execution that has ended. They must not contain its texts. */
function fieldsOf({ agentName }: RunningExecution, ended: Omit<ExecutionFields, 'agentName'>): ExecutionFields {
  const { status, durationMs, error, selfTest, qaReview } = ended;
  return { agentName, status, durationMs, error, selfTest, qaReview };
}

/**
 * Makes a write, or a read, as the lease holder, and repeats it after a conflict or a fault of the table.
 *
 * @returns whether it was made; `false` if the lease is lost
 * @throws `AgentChanged`
 */
async function retryWrite(lease: KeptLease, write: () => Promise<void>): Promise<boolean> {
  try {
    await retryFaults(() => untilNoConflict(write), {
      isFinal: (error) => error instanceof LeaseLost || error instanceof AgentChanged || lease.lost(),
      pause: lease.pause,
    });
    return true;
  } catch (error) {
    if (error instanceof LeaseLost) return false;
    throw error;
  }
}

async function untilNoConflict(write: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof Conflict)) throw error;
    }
  }
}

/** Returns the task of an execution; `undefined` if it has none, or if the task was deleted in the meantime. */
async function readTaskOf(
  context: Context,
  { organization, taskId }: RunningExecution,
): Promise<StoredTask | undefined> {
  return taskId === undefined ? undefined : readTask(context, organization, taskId);
}

/**
 * Returns the move of the task at the end of its execution (docs/architecture.md#the-task-of-an-execution); `undefined`
 * if the task was moved in the meantime.
 */
function moveOf(
  task: StoredTask,
  { id, autoRun }: RunningExecution,
  result: Pick<Result, 'status' | 'selfTest' | 'qaReview'> & { error?: string },
  now: string,
  autoAccepts = false,
): TaskMove | undefined {
  if (result.status === 'failed') {
    const move = moveOnEnd(task, id, 'assigned', now);
    const autoRunFailure = { executionId: id, error: String(result.error ?? '') };
    return move && autoRun ? { ...move, after: { ...move.after, autoRunFailure } } : move;
  }
  if (!hasPassed(result)) return moveOnEnd(task, id, 'qa_review', now);
  if (!autoAccepts) return moveOnEnd(task, id, 'up_for_review', now);
  const move = moveOnEnd(task, id, 'done', now);
  return move && { ...move, after: { ...move.after, accepted: { by: 'gates', executionId: id } } };
}

const hasPassed = ({ selfTest, qaReview }: Pick<Result, 'selfTest' | 'qaReview'>) =>
  selfTest === 'passed' && qaReview === 'passed';

/** Returns whether the gates decide for a person that a task of the agent is done. */
async function acceptsItself(
  context: Context,
  { organization, agentName, agentId }: RunningExecution,
): Promise<boolean> {
  const agent = await readAgentHead(context, organization, agentName);
  return agent?.id === agentId && agent.autoAccept;
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
