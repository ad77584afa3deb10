import { requireAgentHead } from '../agents/require-agent.ts';
import type { Context } from '../context/context.ts';
import { ApiError, notFound } from '../contract/errors.ts';
import type { Cancellation } from '../contract/executions/execution-control.ts';
import type { Execution, ExecutionStarted } from '../contract/executions/executions.ts';
import { timestamp } from '../contract/ids.ts';
import type { Organization } from '../contract/organization.ts';
import { retryOnConflict } from '../table/access/transact.ts';
import type { Write } from '../table/access/write.ts';
import type { AgentContext } from '../table/agents/agents.ts';
import {
  type Ending,
  type ExecutionHead,
  endingTokens,
  isRunning,
  noProgress,
  type RunningExecution,
  stepCountOf,
  taskFieldsOf,
  withoutOutput,
} from '../table/executions/execution-items.ts';
import { cancelRunning, readExecutionWithInput, readHeadWithAgent } from '../table/executions/executions.ts';
import { readDelegatedExecutions } from '../table/executions/running-executions.ts';
import type { RecordResponse } from '../table/idempotency.ts';
import { unknownTask } from '../table/tasks/task-edges.ts';
import { readTask } from '../table/tasks/tasks.ts';
import { startAndRespond } from './executions.ts';
import { moveOnCancel } from './task-moves.ts';

/** How many delegated executions are cancelled at the same time. */
const cancelledAtOnce = 10;

/**
 * Cancels a running execution: ends it as failed with the error `cancelled`, also if a worker holds its lease, and
 * returns its task. Then it cancels the running executions that this one has delegated, unless `delegated` is false. If an
 * earlier request has cancelled the execution, only the delegated ones are cancelled, before the error is thrown.
 *
 * @throws `ApiError` `not_found` if the agent does not exist or has no such execution; `execution_finished`;
 *   `unavailable` also if the execution is cancelled, but not all that it has delegated
 */
export async function cancelExecution(
  context: Context,
  organization: Organization,
  name: string,
  id: string,
  { delegated }: Cancellation,
  recordResponse: RecordResponse,
): Promise<Execution> {
  const { execution, response } = await retryOnConflict(context.table, async () => {
    const { execution, input } = await requireExecution(context, organization, name, id);
    if (!isRunning(execution)) return { execution, response: undefined };
    let response: Execution | undefined;
    await cancelOne(context, execution, (ended) => {
      response = withoutOutput(ended, input);
      return recordResponse?.(response) ?? [];
    });
    return { execution, response };
  });
  const isCancelled = response !== undefined || execution.error === 'cancelled';
  // An agent delegates in a step, so an execution without steps has delegated nothing.
  if (delegated && isCancelled && execution.steps !== undefined)
    await cancelDelegated(context, organization, id).catch((error: unknown) => {
      throw error instanceof ApiError ? delegatedStillRunning(id) : error;
    });
  if (!response) throw finished(execution);
  return response;
}

/**
 * Cancels a running execution.
 *
 * @param recordsOf returns further writes of the same transaction, for the execution as it ends
 * @throws `Conflict` if the execution or its task has changed since it was read
 */
async function cancelOne(
  context: Context,
  execution: RunningExecution,
  recordsOf: (ended: ExecutionHead) => readonly Write[],
): Promise<void> {
  const { organization, taskId } = execution;
  const task = taskId === undefined ? undefined : await readTask(context, organization, taskId);
  const end = cancelled(execution, context.clock());
  const ending = {
    ...end,
    stepCount: stepCountOf({ ...execution, ...end }),
    ...(task && { taskFields: taskFieldsOf(task) }),
  };
  await cancelRunning(context, execution, ending, {
    task: task && moveOnCancel(task, execution.id, ending.completedAt),
    records: recordsOf({ ...execution, ...ending }),
  });
}

/**
 * Cancels the running executions that a cancelled one has delegated, and the executions that these have delegated in turn. Until it
 * is cancelled, a delegated execution can delegate another time; so they are read again until none is left. That ends: the
 * executions that are found later are further down in a chain of delegations.
 *
 * @throws `ApiError` `unavailable`
 */
async function cancelDelegated(context: Context, organization: Organization, id: string): Promise<void> {
  for (;;) {
    const found = await readDelegatedExecutions(context, organization, id);
    if (found.length === 0) return;
    for (let at = 0; at < found.length; at += cancelledAtOnce)
      await Promise.all(found.slice(at, at + cancelledAtOnce).map((one) => cancelFound(context, one)));
  }
}

/** Cancels an execution, unless it has ended since it was read, or its agent was deleted: then its purge ends it. */
async function cancelFound(context: Context, found: RunningExecution): Promise<void> {
  await retryOnConflict(context.table, async () => {
    const { head, agent } = await readHeadWithAgent(context, found);
    if (head && isRunning(head) && agent?.id === found.agentId) await cancelOne(context, head, () => []);
  });
}

/**
 * Starts an execution with the input, the context and the task of another one, which stays as it is.
 *
 * @throws `ApiError` `not_found` if the agent does not exist or has no such execution; `unknown_reference`,
 *   `agent_not_active`, `task_blocked`, `rate_limited`
 */
export async function rerunExecution(
  context: Context,
  organization: Organization,
  name: string,
  id: string,
  recordResponse: RecordResponse,
): Promise<ExecutionStarted> {
  const decide = async () => {
    const { agent, execution, input } = await requireExecution(context, organization, name, id);
    const { taskId, delegatedBy, ancestors, depth } = execution;
    const task = taskId === undefined ? undefined : await readTask(context, organization, taskId);
    if (taskId !== undefined && !task) throw unknownTask(taskId, 'taskId');
    // Not `delegationId`: the delegation has the status of the execution that it started.
    const delegated = { ...(delegatedBy !== undefined && { delegatedBy, ancestors, depth }) };
    return { agent, input, task, delegated };
  };
  return startAndRespond(context, organization, decide, recordResponse);
}

/**
 * Returns an agent and an execution of it.
 *
 * @throws `ApiError` `not_found`
 */
async function requireExecution(context: AgentContext, organization: Organization, name: string, id: string) {
  const [agent, found] = await Promise.all([
    requireAgentHead(context, organization, name),
    readExecutionWithInput(context, { organization, id }),
  ]);
  if (found?.execution.agentId !== agent.id) throw notFound('execution');
  return { agent, ...found };
}

/**
 * Returns the end of an execution that is cancelled now, with the tokens that are stored. The worker that holds the lease
 * counts the others when it stops.
 */
function cancelled(execution: RunningExecution, now: number): Ending {
  const { startedAt, progress = noProgress } = execution;
  const endedAt = Math.max(now, Date.parse(startedAt));
  return {
    status: 'failed',
    error: 'cancelled',
    completedAt: timestamp(endedAt),
    durationMs: endedAt - Date.parse(startedAt),
    ...endingTokens(execution, progress),
    ...(progress.timings && { timings: progress.timings }),
    selfTest: 'skipped',
    qaReview: 'skipped',
  };
}

/** Returns the error for a cancellation that has not reached all delegated executions. `unavailable()` would deny it. */
function delegatedStillRunning(id: string): ApiError {
  return new ApiError(
    'unavailable',
    `${id} is cancelled, but the service is busy; cancel it again, with another Idempotency-Key, to cancel the executions that it has delegated.`,
    [],
    { 'Retry-After': '10' },
  );
}

function finished({ id, status }: ExecutionHead): ApiError {
  return new ApiError(
    'execution_finished',
    `The execution ${id} has ended as ${status}; only a running execution can be cancelled.`,
  );
}
