import type { TaskEvent } from '../contract/events.ts';
import type { Task } from '../contract/tasks.ts';

/**
 * The public events of a change of a task (docs/architecture.md#events): a new task is one
 * `task.created`, whatever its status; another status is `task.status_changed`, and `task.completed` beside it when
 * the new one is `done`; a deletion, and a change of anything else, is none.
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
