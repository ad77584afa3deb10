import { ApiError } from '../contract/errors.ts';
import type { TaskDetail, TaskPatch, TaskReference } from '../contract/tasks.ts';
import type { StoredTask } from '../table/tasks/task-items.ts';

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

/** Returns the new value of a field: `null` removes it, and `undefined` keeps it. */
const changed = <Value>(value: Value | null | undefined, before: Value | undefined) =>
  value === null ? undefined : (value ?? before);

/**
 * Returns a task after a patch. If nothing changes it returns the same object, so that equal values write nothing and
 * keep the ETag.
 */
export function patched(task: StoredTask, patch: TaskPatch, now: string): StoredTask {
  const next: StoredTask = {
    ...task,
    title: patch.title ?? task.title,
    description: changed(patch.description, task.description),
    status: patch.status ?? task.status,
    priority: patch.priority ?? task.priority,
    assignedAgent: changed(patch.assignedAgent, task.assignedAgent),
    projectId: changed(patch.projectId, task.projectId),
    dependsOn: same(patch.dependsOn ?? task.dependsOn, task.dependsOn) ? task.dependsOn : (patch.dependsOn as string[]),
  };
  return same(next, task) ? task : { ...next, version: task.version + 1, updatedAt: now };
}

const referenceTo = ({ id, title, status }: TaskReference): TaskReference => ({ id, title, status });

/** Returns those of the dependencies of a task that are not done. */
export function blockersIn(dependencies: readonly TaskReference[]): TaskReference[] {
  return dependencies.filter(({ status }) => status !== 'done').map(referenceTo);
}

/** Returns the task as its own endpoint shows it: with its dependencies and those of them that are not done. */
export function detailed(
  { version: _, dependents: __, owner: ___, createdBy: ____, requestId: _____, ...task }: StoredTask,
  dependencies: readonly StoredTask[],
): TaskDetail {
  return { ...task, dependsOn: dependencies.map(referenceTo), blockedBy: blockersIn(dependencies) };
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
