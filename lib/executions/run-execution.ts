import { randomUUID } from 'node:crypto';
import type { Context } from '../context.ts';
import type { GateReasons, QualityGates } from '../contract/executions.ts';
import { timestamp } from '../contract/ids.ts';
import type { ExecutionMessage } from '../deployment/messages.ts';
import type { Counts } from '../deployment/metrics.ts';
import { type RunningExecution, stepCountOf, taskFieldsOf } from '../table/executions/execution-items.ts';
import { endExecution, leaseExecution, returnLease, type TaskMove } from '../table/executions/executions.ts';
import { AgentChanged, LeaseLost } from '../table/executions/lease-writes.ts';
import { graceMs } from '../table/lists/due.ts';
import type { StoredTask } from '../table/tasks/task-items.ts';
import { readTask } from '../table/tasks/tasks.ts';
import { Conflict } from '../table/transact.ts';
import { agentNotActive, readAgain } from './changed-agent.ts';
import { sendExecutionMessages } from './execution-messages.ts';
import { failed, generateOutput, type Postponed, type Result, type Tools } from './generate-output.ts';
import { type HandOver, startHandOver } from './hand-over.ts';
import { type KeptLease, keepLease, leaseMs } from './keep-lease.ts';
import { moveOnEnd } from './task-moves.ts';

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
 * How often an execution can be leased and not returned, without a finished step in between. After two lost workers it
 * fails as `lost`.
 */
const leasesAllowed = 2;

/** How often the end of an execution tries to move its task. After as many conflicts the task stays as it is. */
const maxMoveTries = 3;

/** The pauses before a failed write is repeated, in milliseconds. The write keeps the results of paid calls to models. */
const writePausesMs = [500, 1_000, 2_000, 4_000];

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
  tools: Tools,
): Promise<Ran> {
  const now = context.clock();
  const request = { leaseId: randomUUID(), now: timestamp(now), until: timestamp(now + leaseMs) };
  const execution = await leaseExecution(context, { organization, id }, request);
  if (!execution) return {};
  const deadline = leasedAtOf(execution) + context.executionLimits.durationMs;
  const lease = keepLease(context, execution, deadline);
  const handOver = startHandOver(context, deadline);
  try {
    const outcome = await outcomeOf(context, execution, deadline, tools, lease, handOver);
    if (!outcome || lease.lost()) return {};
    return await store(context, outcome.execution ?? execution, deadline, outcome, tools, lease);
  } catch (error) {
    // Another worker continues the execution, or has ended it.
    if (error instanceof LeaseLost) return {};
    throw error;
  } finally {
    lease.stop();
    handOver.stop();
  }
}

/**
 * Returns the result of an execution, or that another worker has to continue; `undefined` if its agent was deleted. It
 * calls no model if the execution has already failed: after lost workers, a long wait or its deadline.
 */
async function outcomeOf(
  context: Context,
  execution: RunningExecution,
  deadline: number,
  tools: Tools,
  { signal, agent }: KeptLease,
  handOver: HandOver,
): Promise<Result | Postponed | undefined> {
  const spent = { tokens: execution.progress?.tokens ?? 0, throttles: 0 };
  if (execution.claims > leasesAllowed) return failed('lost', spent);
  const waitedMs = leasedAtOf(execution) - Date.parse(execution.startedAt);
  if (waitedMs > context.waitingLimitMs) return failed('not_started', spent);
  const isOver = context.clock() >= deadline;
  // An execution with an output is completed, with the verdicts that it has.
  if (isOver && execution.outputParts === undefined) return failed('deadline', spent);
  return generateOutput(context, execution, tools, isOver ? AbortSignal.abort() : signal, handOver, agent);
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
  tools: Tools,
  lease: KeptLease,
): Promise<Ran> {
  const outcome = lease.isAgentActive() ? reached : stopped(reached);
  try {
    return 'progress' in outcome
      ? await postpone(context, execution, deadline, outcome, lease)
      : await end(context, execution, outcome, tools, lease);
  } catch (error) {
    if (!(error instanceof AgentChanged)) throw error;
    let [current, isActive] = [execution, false];
    const isHeld = await retryWrite(lease, async () => {
      const { execution: head, agent } = await readAgain(context, execution);
      const { agentMark } = head;
      current = { ...execution, ...(agentMark !== undefined && { agentMark }) };
      isActive = agent.agent.status === 'active';
    });
    return isHeld ? store(context, current, deadline, isActive ? outcome : stopped(outcome), tools, lease) : {};
  }
}

/** Returns the failure of an execution whose agent is not active any more, with the tokens of its outcome. */
function stopped(outcome: Result | Postponed): Result {
  const { throttles, execution } = outcome;
  const [tokens, timings] =
    'progress' in outcome ? [outcome.progress.tokens, outcome.progress.timings] : [outcome.tokensUsed, outcome.timings];
  return {
    ...failed(agentNotActive, { tokens, throttles }),
    ...(timings && { timings }),
    ...(execution && { execution }),
  };
}

/** Returns the lease to the table, and sends the message again: with a delay if a model throttles. */
async function postpone(
  context: Context,
  execution: RunningExecution,
  deadline: number,
  { status, progress, output, gateReasons, throttles }: Postponed,
  lease: KeptLease,
): Promise<Ran> {
  const now = context.clock();
  const maxWaitMs = Math.min(laterMaxWaitMs, firstMaxWaitMs * 2 ** (progress.waits - 1));
  const resumeAt =
    status === 'handed_over' ? now - clockSkewMs : Math.min(now + (maxWaitMs * (1 + Math.random())) / 2, deadline);
  const until = timestamp(resumeAt);
  const dueAt = timestamp(Math.max(resumeAt, now) + graceMs);
  await retryWrite(lease, () => returnLease(context, execution, { until, dueAt, progress }, output, gateReasons));
  // Send the message even if the lease is lost. The write may have been made, and a superfluous message does no harm.
  await sendExecutionMessages(context, [{ ...execution, leaseUntil: until }]);
  return { counts: throttled(throttles), agentName: execution.agentName, status };
}

/** Ends an execution and moves its task. Does nothing if this worker has lost its lease. */
async function end(
  context: Context,
  execution: RunningExecution,
  outcome: Result & { output?: string; gateReasons?: GateReasons },
  { answeringModel = (model) => model }: Tools,
  lease: KeptLease,
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
    durationMs: endedAt - startedAt,
    ...(timings && { timings }),
    stepCount: stepCountOf({ ...execution, ...result, timings }),
  };
  let moveTries = 1;
  const hasEnded = await retryWrite(lease, async () => {
    const found = await readTaskOf(context, execution);
    const move = found && moveTries <= maxMoveTries ? moveOf(found, execution, result, ending.completedAt) : undefined;
    const withTask = { ...ending, ...(found && { taskFields: taskFieldsOf(found) }) };
    await endExecution(context, execution, withTask, { output, gateReasons, task: move }).catch((error: unknown) => {
      if (error instanceof Conflict) moveTries++;
      throw error;
    });
  });
  if (!hasEnded) return {};
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
  const pauses = writePausesMs.values();
  for (;;) {
    try {
      await write();
      return true;
    } catch (error) {
      if (error instanceof LeaseLost) return false;
      if (error instanceof AgentChanged) throw error;
      if (error instanceof Conflict) continue;
      const { value: wait } = pauses.next();
      if (wait === undefined || lease.lost()) throw error;
      await lease.pause(wait);
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
  { id }: RunningExecution,
  { status, selfTest, qaReview }: Pick<Result, 'status' | 'selfTest' | 'qaReview'>,
  now: string,
): TaskMove | undefined {
  const passed = selfTest === 'passed' && qaReview === 'passed';
  return moveOnEnd(task, id, status === 'failed' ? 'assigned' : passed ? 'up_for_review' : 'qa_review', now);
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
