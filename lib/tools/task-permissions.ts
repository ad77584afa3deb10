import { ApiError, type ErrorDetail } from '../contract/errors.ts';
import { reviewStatuses, type TaskPatch, type TaskStatus, taskStatuses } from '../contract/tasks/tasks.ts';
import type { TableContext } from '../table/access/client.ts';
import type { AgentHead } from '../table/agents/agent-items.ts';
import type { RunningExecution } from '../table/executions/execution-items.ts';
import { readExecutionHead } from '../table/executions/executions.ts';
import type { StoredTask } from '../table/tasks/task-items.ts';
import { isAssignedTo } from '../tasks/decisions.ts';

/** The statuses that only quality gates and people give a task: they say that the work was accepted. */
const reservedStatuses: readonly TaskStatus[] = ['up_for_review', 'done'];

/** The statuses that an agent may give a task. */
export const statusesOfAgents: readonly TaskStatus[] = taskStatuses.filter(
  (status) => !reservedStatuses.includes(status),
);

/** The fields of a task that stay as they are while an execution works on it: gates judge its output by these texts. */
const fixedFields = ['status', 'title', 'description'] as const;

/** Returns whether an agent created a task, or the task is assigned to it. */
function isOwnTask(agent: Pick<AgentHead, 'id' | 'name'>, task: StoredTask): boolean {
  return task.createdBy === agent.id || isAssignedTo(task, agent);
}

/**
 * Checks that an agent may give a task a status.
 *
 * @throws `ApiError` `insufficient_scope`
 */
export function authorizeStatus(status: TaskStatus | undefined): void {
  if (status === undefined || statusesOfAgents.includes(status)) return;
  throw notPermitted(`Agents cannot set the status ${status}; leave it to the quality gates and to people.`, [
    { path: 'status', code: 'invalid_value', message: `status must be one of ${statusesOfAgents.join(', ')}` },
  ]);
}

/**
 * Checks that an agent may change a task in an execution: the agent created the task, or it is assigned to it; the task is
 * not done; and the change touches nothing that belongs to reviewers or to a running execution.
 *
 * @param after the task after the patch; the same object as `task` if nothing changes
 * @throws `ApiError` `insufficient_scope`
 */
export async function authorizeTaskChange(
  context: TableContext,
  execution: RunningExecution,
  agent: Pick<AgentHead, 'id' | 'name'>,
  task: StoredTask,
  patch: TaskPatch,
  after: StoredTask,
): Promise<void> {
  if (!isOwnTask(agent, task)) throw notOwn(agent, task);
  authorizeStatus(patch.status);
  if (after === task) return;
  if (task.status === 'done') throw notPermitted('Agents cannot change a task that is done; create another task.');
  const fixed = fixedFields.filter((field) => after[field] !== task[field]);
  if (fixed.includes('status') && reviewStatuses.includes(task.status))
    throw notPermitted(`The task is in ${task.status}; leave its status to people.`);
  if (fixed.length > 0 && (await isInExecution(context, execution, task)))
    throw notPermitted(
      `An execution is working on the task; change ${fixed.join(' and ')} after its end.`,
      fixed.map((path) => ({ path, code: 'read_only', message: `${path} cannot be changed during an execution` })),
    );
}

/**
 * Checks that an agent may delegate a task in an execution: it is the task of the execution, or one that the agent may
 * change.
 *
 * @throws `ApiError` `insufficient_scope`
 */
export function authorizeDelegation(
  execution: RunningExecution,
  agent: Pick<AgentHead, 'id' | 'name'>,
  task: StoredTask,
): void {
  if (task.id !== execution.taskId && !isOwnTask(agent, task)) throw notOwn(agent, task);
}

/** Returns whether this execution or another one is working on a task. */
async function isInExecution(context: TableContext, execution: RunningExecution, task: StoredTask): Promise<boolean> {
  if (task.id === execution.taskId || task.owner === execution.id) return true;
  if (task.owner === undefined) return false;
  const owner = await readExecutionHead(context, { organization: execution.organization, id: task.owner });
  return owner?.status === 'running';
}

function notOwn({ name }: Pick<AgentHead, 'name'>, { id, assignedAgent }: StoredTask): ApiError {
  if (assignedAgent === name)
    return notPermitted(`The task ${id} was assigned to a deleted agent named ${name}; create another task.`);
  return notPermitted(`${name} did not create the task ${id}, and it is not assigned to ${name}; create another task.`);
}

function notPermitted(message: string, details: readonly ErrorDetail[] = []): ApiError {
  return new ApiError('insufficient_scope', message, details);
}
