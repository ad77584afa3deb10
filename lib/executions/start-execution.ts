import type { Context } from '../context/context.ts';
import { ApiError } from '../contract/errors.ts';
import { timeOf, timestamp } from '../contract/ids.ts';
import type { Organization } from '../contract/organization.ts';
import { retryOnConflict } from '../table/access/transact.ts';
import type { AgentHead } from '../table/agents/agent-items.ts';
import {
  type ExecutionHead,
  type ExecutionInput,
  type RunningExecution,
  taskFieldsOf,
} from '../table/executions/execution-items.ts';
import { insertExecution, readExecutionHead, type TaskMove } from '../table/executions/executions.ts';
import type { RecordResponse } from '../table/idempotency.ts';
import { graceMs } from '../table/lists/due.ts';
import type { StoredTask } from '../table/tasks/task-items.ts';
import { readTasks } from '../table/tasks/tasks.ts';
import { asOf, liveClaim, taskClaimed } from '../tasks/claim-decisions.ts';
import { rejectWhileBlocked } from '../tasks/decisions.ts';
import { moveOnStart } from './task-moves.ts';

/** The data of an execution to start: the agent, the input and the task as the caller has read them. */
export type ExecutionOrder = {
  agent: AgentHead;
  input: ExecutionInput;
  task: StoredTask | undefined;
  /** Whether the service starts it for its agent. */
  byService?: true;
  /** The fields of an execution that a delegation starts. */
  delegated?: Pick<ExecutionHead, 'delegationId' | 'delegatedBy' | 'ancestors' | 'depth' | 'delegatedIn'>;
};

/**
 * Starts an execution: stores it and moves its task in one transaction. The table's stream then sends the message for a
 * worker.
 *
 * @param decide reads the agent and the task, and rejects the start; called again after a conflict
 * @throws `ApiError` `agent_not_active`, `task_claimed`, `task_blocked`, `rate_limited`, and the errors of `decide`
 */
export async function startExecution(
  context: Context,
  organization: Organization,
  decide: () => Promise<ExecutionOrder>,
  recordResponse: (execution: RunningExecution) => RecordResponse,
): Promise<RunningExecution> {
  const ulid = context.ulid();
  const startedAt = timestamp(timeOf(ulid));
  const dueAt = timestamp(timeOf(ulid) + graceMs);
  return retryOnConflict(context.table, async () => {
    const { agent, input, task, delegated, byService } = await decide();
    if (agent.status !== 'active') throw notActive(agent);
    const execution: RunningExecution = {
      organization,
      id: `ex_${ulid}`,
      agentId: agent.id,
      agentName: agent.name,
      ...(task && { taskId: task.id }),
      status: 'running',
      startedAt,
      model: agent.model,
      promptHash: agent.promptHash,
      selfTest: 'pending',
      qaReview: 'pending',
      claims: 0,
      ...delegated,
      ...(byService && { autoRun: byService, ...chainOf(task) }),
    };
    const move = task && (await moveOf(context, task, execution));
    const started = { ...execution, ...(task && { taskFields: taskFieldsOf(move?.after ?? task) }) };
    return insertExecution(context, started, input, {
      dueAt,
      task: move,
      recordResponse: recordResponse(started),
    });
  });
}

/**
 * Returns the move of the task that goes with the start.
 *
 * @throws `ApiError` `task_claimed`, `task_blocked`
 */
async function moveOf(context: Context, task: StoredTask, execution: RunningExecution): Promise<TaskMove | undefined> {
  const { organization } = execution;
  const now = context.clock();
  const claim = liveClaim(task, now);
  if (claim) throw taskClaimed(claim);
  const [dependencies, owner] = await Promise.all([
    readTasks(context, organization, task.dependsOn),
    task.owner === undefined ? undefined : readExecutionHead(context, { organization, id: task.owner }),
  ]);
  rejectWhileBlocked(dependencies);
  const move = moveOnStart(asOf(task, now), execution, owner?.status === 'running', timestamp(now));
  return move && { ...move, before: task };
}

/** Returns the chain that an execution continues which the service starts. */
function chainOf(task: StoredTask | undefined): Pick<ExecutionHead, 'ancestors' | 'depth'> {
  const { chain } = task ?? {};
  return chain ? { ancestors: chain, depth: chain.length } : {};
}

function notActive({ name, status }: AgentHead): ApiError {
  return new ApiError('agent_not_active', `${name} is ${status}; set its status to active first.`);
}
