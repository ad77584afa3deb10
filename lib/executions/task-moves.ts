import { ApiError } from '../contract/errors.ts';
import type { TaskStatus } from '../contract/tasks.ts';
import type { TaskMove } from '../table/executions.ts';
import type { StoredTask } from '../table/task-items.ts';

/**
 * The statuses in which a task moves with the start of an execution (docs/architecture.md#the-task-of-an-execution).
 */
const takenFrom: readonly TaskStatus[] = ['backlog', 'assigned', 'in_progress'];

/**
 * How a task moves as an execution takes it on: it is in progress, has an agent, and says whose it is. `undefined`
 * where it is further than that, or already another's.
 */
export function taken(
  task: StoredTask,
  execution: { id: string; agentName: string },
  ownerRuns: boolean,
  now: string,
): TaskMove | undefined {
  if (ownerRuns || !takenFrom.includes(task.status)) return undefined;
  const after: StoredTask = {
    ...task,
    status: 'in_progress',
    assignedAgent: task.assignedAgent ?? execution.agentName,
    owner: execution.id,
    version: task.version + 1,
    updatedAt: now,
  };
  return { before: task, after };
}

/**
 * How a task moves as the execution that has taken it on comes to its end. `undefined` where it was moved, or given to
 * another, meanwhile: it is left alone then.
 */
export function released(
  task: StoredTask,
  executionId: string,
  status: 'up_for_review' | 'qa_review' | 'assigned',
  now: string,
): TaskMove | undefined {
  if (task.status !== 'in_progress' || task.owner !== executionId) return undefined;
  const { owner: _, ...rest } = task;
  return { before: task, after: { ...rest, status, version: task.version + 1, updatedAt: now } };
}

/**
 * Refuses to work on a task that waits for others.
 *
 * @throws `ApiError` `task_blocked`, whose details name what it waits for
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
