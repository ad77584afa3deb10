import type { TaskEvent } from '../contract/events.ts';
import type { Task } from '../contract/tasks.ts';

/**
 * Returns the public events of a change of a task (docs/architecture.md#events). A new task is `task.created` with any
 * status. A change of the status is `task.status_changed`, and also `task.completed` if the new status is `done`. A
 * deletion or a change of other fields has no event.
 *
 * @param before `undefined` for a new task
 * @param after `undefined` for a deleted task
 */
export function taskEvents(before: Task | undefined, after: Task | undefined): TaskEvent[] {
  if (!after || before?.status === after.status) return [];
  const { id, title, status, assignedAgent, projectId, updatedAt } = after;
  const task = { id, title, status, assignedAgent, projectId };
  const occurredAt = updatedAt;
  if (!before) return [{ event: 'task.created', data: { task, occurredAt } }];
  const changed: TaskEvent = {
    event: 'task.status_changed',
    data: { task: { id, title, previousStatus: before.status, status, assignedAgent, projectId }, occurredAt },
  };
  return status === 'done' ? [changed, { event: 'task.completed', data: { task, occurredAt } }] : [changed];
}
