import type { TaskStatus } from '../contract/tasks/tasks.ts';
import type { RunningExecution } from '../table/executions/execution-items.ts';
import type { TaskMove } from '../table/executions/executions.ts';
import type { StoredTask } from '../table/tasks/task-items.ts';
import { withoutFailures } from '../tasks/claim-decisions.ts';
import { mostAutoRuns } from '../tasks/rounds.ts';

/**
 * The statuses in which a task moves with the start of an execution (docs/architecture.md#the-task-of-an-execution).
 */
const takenFrom: readonly TaskStatus[] = ['backlog', 'assigned', 'in_progress'];

/**
 * Returns the move of a task with the start of an execution: it is in progress, has an agent, and the execution owns it. A task
 * that was stopped is not any more, and it is not held, because it can start. A
 * task that is assigned to the name of the agent is assigned to this agent then, also if a deleted one had the name.
 * `undefined` if its status is a later one, or if another running execution owns it.
 */
export function moveOnStart(
  task: StoredTask,
  execution: Pick<RunningExecution, 'id' | 'agentId' | 'agentName' | 'autoRun'>,
  isOwnerRunning: boolean,
  now: string,
): TaskMove | undefined {
  if (isOwnerRunning || !takenFrom.includes(task.status)) return undefined;
  const { agentId, agentName } = execution;
  const { assignedAgent = agentName } = task;
  const { held, ...offered } = withoutFailures(task);
  const started = task.stopped ? offered : task;
  const after: StoredTask = {
    // A run by hand goes on after the failures of the service's own.
    ...(execution.autoRun ? { ...started, autoRuns: (task.autoRuns ?? 0) + 1 } : withoutAutoRuns(started)),
    status: 'in_progress',
    assignedAgent,
    ...(assignedAgent === agentName && { assignedAgentId: agentId }),
    owner: execution.id,
    version: task.version + 1,
    updatedAt: now,
  };
  return { before: task, after };
}

function withoutAutoRuns({ autoRuns, autoRunFailure, ...rest }: StoredTask): StoredTask {
  return rest;
}

/**
 * Returns the move of a task with the end of the execution that owns it. `undefined` if the task was moved in the
 * meantime, or if another execution owns it. The task keeps the id of a completed execution for its dependents.
 *
 * @param status `assigned` if the execution did not complete
 */
export function moveOnEnd(
  task: StoredTask,
  executionId: string,
  status: 'done' | 'up_for_review' | 'qa_review' | 'assigned',
  now: string,
): TaskMove | undefined {
  if (task.status !== 'in_progress' || task.owner !== executionId) return undefined;
  const { owner, ...rest } = task;
  const after: StoredTask = {
    ...rest,
    status,
    endedExecution: executionId,
    ...(status !== 'assigned' && { lastExecution: executionId }),
    version: task.version + 1,
    updatedAt: now,
  };
  return { before: task, after };
}

/**
 * Returns the change of a task whose execution has ended without moving it: only its result is known. It is no new version.
 * `undefined` if the task knows it already.
 */
export function noteEnd(task: StoredTask, executionId: string): TaskMove | undefined {
  if (task.endedExecution === executionId) return undefined;
  return { before: task, after: { ...task, endedExecution: executionId } };
}

/**
 * Returns the move of a task with the cancellation of the execution that owns it. The service starts no other one in this round:
 * whoever cancels one does not want that.
 */
export function moveOnCancel(task: StoredTask, executionId: string, now: string): TaskMove | undefined {
  const move = moveOnEnd(task, executionId, 'assigned', now);
  const stopped = { autoRuns: mostAutoRuns, autoRunFailure: { executionId, error: 'cancelled' } };
  return move ? { ...move, after: { ...move.after, ...stopped } } : noteEnd(task, executionId);
}
