import { ApiError } from '../contract/errors.ts';
import { timeOf, ulidOf } from '../contract/ids.ts';
import { pick } from '../contract/shapes.ts';
import { TaskDetail, type TaskPatch, type TaskReference } from '../contract/tasks/tasks.ts';
import { applyPatch } from '../table/access/patch.ts';
import type { AgentHead } from '../table/agents/agent-items.ts';
import type { StoredTask } from '../table/tasks/task-items.ts';
import { withoutFailures } from './claim-decisions.ts';

/**
 * Returns a task after a patch; the same object if nothing changes.
 *
 * @param patch with the id of the agent that it assigns, unless the task is assigned to this agent already
 */
export function patchedTask(
  task: StoredTask,
  patch: Omit<TaskPatch, 'claimId'> & Pick<StoredTask, 'assignedAgentId'>,
  now: string,
): StoredTask {
  const { assignedAgent } = patch;
  const isOther = assignedAgent !== undefined && assignedAgent !== task.assignedAgent;
  const next = applyPatch(task, { ...patch, assignedAgentId: patch.assignedAgentId ?? (isOther ? null : undefined) });
  if (next === task) return task;
  const isOfferedAgain = next.status !== task.status || next.assignedAgentId !== task.assignedAgentId || isOther;
  const changed = isOfferedAgain ? withoutFailures(next) : next;
  return { ...changed, version: task.version + 1, updatedAt: now };
}

/**
 * Returns whether a task is assigned to an agent, and not to a deleted one of the same name. Tasks that an earlier version
 * assigned have only the name: they are not assigned to an agent that was created after their last change.
 */
export function isAssignedTo(task: StoredTask, { id, name }: Pick<AgentHead, 'id' | 'name'>): boolean {
  if (task.assignedAgent !== name) return false;
  const { assignedAgentId, updatedAt } = task;
  return assignedAgentId === undefined ? timeOf(ulidOf(id)) <= Date.parse(updatedAt) : assignedAgentId === id;
}

const referenceTo = ({ id, title, status }: TaskReference): TaskReference => ({ id, title, status });

/** Returns the dependencies of a task that are not done. */
export function blockersIn(dependencies: readonly TaskReference[]): TaskReference[] {
  return dependencies.filter(({ status }) => status !== 'done').map(referenceTo);
}

/** Returns the task with its dependencies and its unfinished dependencies, as its own endpoint shows it. */
export function detailed(stored: StoredTask, dependencies: readonly StoredTask[]): TaskDetail {
  const whole = { ...stored, dependsOn: dependencies.map(referenceTo), blockedBy: blockersIn(dependencies) };
  return pick(TaskDetail, whole) as TaskDetail;
}

/**
 * Checks that all dependents of a task are done, so that it can be deleted.
 *
 * @throws `ApiError` `has_dependents` with a detail for each dependent that is not done
 */
export function checkDependentsDone(dependents: readonly StoredTask[]): void {
  const unfinished = dependents.filter(({ status }) => status !== 'done');
  if (unfinished.length === 0) return;
  const tasks =
    unfinished.length === 1
      ? '1 task depends on this one and is'
      : `${unfinished.length} tasks depend on this one and are`;
  throw new ApiError(
    'has_dependents',
    `${tasks} not done; finish them or remove the dependency first.`,
    unfinished.map(({ id, status }, at) => ({
      path: `dependents.${at}`,
      code: 'blocking',
      message: `${id} depends on this task and is ${status}.`,
    })),
  );
}

/**
 * Rejects work on a task that is blocked.
 *
 * @throws `ApiError` `task_blocked`, whose details name the dependencies that are not done
 */
export function rejectWhileBlocked(dependencies: readonly StoredTask[]): void {
  const blockers = dependencies.filter(({ status }) => status !== 'done');
  if (blockers.length === 0) return;
  throw new ApiError(
    'task_blocked',
    `The task waits for ${blockers.length} ${blockers.length === 1 ? 'other that is' : 'others that are'} not done; finish ${blockers.length === 1 ? 'it' : 'them'} or remove the dependency first.`,
    blockers.map(({ id, status }, at) => ({
      path: `blockedBy.${at}`,
      code: 'blocking',
      message: `${id} is ${status}.`,
    })),
  );
}
