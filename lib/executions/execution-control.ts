import { ApiError, notFound } from '../contract/errors.ts';
import type { Execution, ExecutionStarted } from '../contract/executions.ts';
import { timestamp } from '../contract/ids.ts';
import type { Organization } from '../contract/organization.ts';
import type { AgentContext } from '../table/agents/agents.ts';
import {
  type Ending,
  type ExecutionHead,
  type RunningExecution,
  stepCountOf,
  taskFieldsOf,
  withoutOutput,
} from '../table/executions/execution-items.ts';
import { cancelRunning, readExecutionWithInput } from '../table/executions/executions.ts';
import type { RecordResponse } from '../table/idempotency.ts';
import { unknownTask } from '../table/tasks/task-edges.ts';
import { readTask } from '../table/tasks/tasks.ts';
import { retryOnConflict } from '../table/transact.ts';
import { requireAgent, startAndRespond } from './executions.ts';
import type { ExecutionStartContext } from './start-execution.ts';
import { moveOnEnd } from './task-moves.ts';

/**
 * Cancels a running execution: ends it as failed with the error `cancelled`, also if a worker holds its lease, and
 * returns its task.
 *
 * @throws `ApiError` `not_found` if the agent does not exist or has no such execution; `execution_finished`
 */
export async function cancelExecution(
  context: AgentContext & { clock: () => number },
  organization: Organization,
  name: string,
  id: string,
  recordResponse: RecordResponse,
): Promise<Execution> {
  return retryOnConflict(context.table, async () => {
    const { execution, input } = await requireExecution(context, organization, name, id);
    if (!isRunning(execution)) throw finished(execution);
    const task = execution.taskId === undefined ? undefined : await readTask(context, organization, execution.taskId);
    const end = cancelled(execution, context.clock());
    const ending = {
      ...end,
      stepCount: stepCountOf({ ...execution, ...end }),
      ...(task && { taskFields: taskFieldsOf(task) }),
    };
    const response = withoutOutput({ ...execution, ...ending }, input);
    await cancelRunning(context, execution, ending, {
      task: task && moveOnEnd(task, id, 'assigned', ending.completedAt),
      records: recordResponse?.(response) ?? [],
    });
    return response;
  });
}

/**
 * Starts an execution with the input, the context and the task of another one, which stays as it is.
 *
 * @throws `ApiError` `not_found` if the agent does not exist or has no such execution; `unknown_reference`,
 *   `agent_not_active`, `task_blocked`, `rate_limited`
 */
export async function rerunExecution(
  context: ExecutionStartContext,
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
    requireAgent(context, organization, name),
    readExecutionWithInput(context, { organization, id }),
  ]);
  if (found?.execution.agentId !== agent.id) throw notFound('execution');
  return { agent, ...found };
}

function isRunning(execution: ExecutionHead): execution is RunningExecution {
  return execution.status === 'running';
}

/** Returns the end of an execution that is cancelled now. It knows no tokens of the worker that holds the lease. */
function cancelled({ startedAt, progress }: RunningExecution, now: number): Ending {
  const endedAt = Math.max(now, Date.parse(startedAt));
  return {
    status: 'failed',
    error: 'cancelled',
    completedAt: timestamp(endedAt),
    durationMs: endedAt - Date.parse(startedAt),
    tokensUsed: progress?.tokens ?? 0,
    selfTest: 'skipped',
    qaReview: 'skipped',
  };
}

function finished({ id, status }: ExecutionHead): ApiError {
  return new ApiError(
    'execution_finished',
    `The execution ${id} has ended as ${status}; only a running execution can be cancelled.`,
  );
}
