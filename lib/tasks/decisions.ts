import { ApiError } from '../contract/errors.ts';
import type { TaskDetail, TaskPatch, TaskReference } from '../contract/tasks.ts';
import type { StoredTask } from '../table/task-items.ts';

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

/** `null` clears a field; what the patch does not name stays. */
const chosen = <Value>(given: Value | null | undefined, present: Value | undefined) =>
  given === null ? undefined : (given ?? present);

/**
 * The task that a patch makes of a task: the very same object when nothing differs, so that equal values write
 * nothing and keep the ETag.
 */
export function patched(task: StoredTask, patch: TaskPatch, now: string): StoredTask {
  const next: StoredTask = {
    ...task,
    title: patch.title ?? task.title,
    description: chosen(patch.description, task.description),
    status: patch.status ?? task.status,
    priority: patch.priority ?? task.priority,
    assignedAgent: chosen(patch.assignedAgent, task.assignedAgent),
    projectId: chosen(patch.projectId, task.projectId),
    dependsOn: same(patch.dependsOn ?? task.dependsOn, task.dependsOn) ? task.dependsOn : (patch.dependsOn as string[]),
  };
  return same(next, task) ? task : { ...next, version: task.version + 1, updatedAt: now };
}

/** The task of the single read: its dependencies as they are now, and those that block it. */
export function detailed(
  { version: _, dependents: __, owner: ___, requestId: ____, ...task }: StoredTask,
  dependencies: readonly StoredTask[],
): TaskDetail {
  const dependsOn = dependencies.map(({ id, title, status }): TaskReference => ({ id, title, status }));
  return { ...task, dependsOn, blockedBy: dependsOn.filter(({ status }) => status !== 'done') };
}

/**
 * Refuses to delete a task that others still wait for.
 *
 * @throws `ApiError` `has_dependents`, whose details name the dependents that are not done
 */
export function rejectWhileAwaited(dependents: readonly StoredTask[]): void {
  const waiting = dependents.filter(({ status }) => status !== 'done');
  if (waiting.length === 0) return;
  throw new ApiError(
    'has_dependents',
    `${waiting.length} ${waiting.length === 1 ? 'task depends' : 'tasks depend'} on this one and ${waiting.length === 1 ? 'is' : 'are'} not done; finish them or remove the dependency first.`,
    waiting.map(({ id, status }, at) => ({
      path: `dependents.${at}`,
      code: 'blocking',
      message: `${id} depends on this task and is ${status}.`,
    })),
  );
}
