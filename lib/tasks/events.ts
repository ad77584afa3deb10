import type { Task } from '../contract/tasks/tasks.ts';
import { type TaskEvent, taskEventRows } from '../contract/webhooks/events.ts';
import type { StoredComment } from '../table/tasks/comments.ts';
import type { DeletedTask } from '../table/tasks/deleted-tasks.ts';
import type { StoredTask } from '../table/tasks/task-items.ts';

const names = Object.keys(taskEventRows) as (keyof typeof taskEventRows)[];

/** A task with its version, as its item has it. */
type VersionedTask = Task & Pick<StoredTask, 'version' | 'claimEnd'>;

/**
 * Returns the public events of a change of a task (docs/architecture.md#events).
 *
 * @param before `undefined` for a new task
 * @param after `undefined` for a deleted task
 */
export function taskEvents(before: VersionedTask | undefined, after: VersionedTask | undefined): TaskEvent[] {
  const changed = after ?? before;
  if (changed === undefined) return [];
  const { id, title, status, assignedAgent, projectId, version, updatedAt, claim, claimEnd } = changed;
  const fieldsOfClaim: Partial<Record<keyof typeof taskEventRows, object>> = {
    'task.claimed': claim && { claim: { id: claim.id, worker: claim.worker } },
    'task.released': before?.claim && {
      claim: { id: before.claim.id, worker: before.claim.worker },
      reason: claimEnd?.id === before.claim.id ? claimEnd.reason : 'expired',
    },
  };
  return names
    .filter((name) => taskEventRows[name].comesFrom(before, after))
    .toReversed()
    .map((event) => {
      const hasPrevious = taskEventRows[event].example.task.previousStatus !== undefined;
      const previous = hasPrevious && before && { previousStatus: before.status };
      return {
        event,
        data: {
          task: { id, title, ...previous, status, assignedAgent, projectId },
          ...fieldsOfClaim[event],
          sequence: version,
          occurredAt: updatedAt,
        },
      } as TaskEvent;
    });
}

/** Returns the event of a new comment. */
export function commentEvent({ id, text, author, review, taskId, task, createdAt }: StoredComment): TaskEvent {
  const { title, status, version, assignedAgent, projectId } = task;
  const comment = { id, text, author, ...(review && { review }), taskId };
  return {
    event: 'task.commented',
    data: {
      task: { id: taskId, title, status, assignedAgent, projectId },
      comment,
      sequence: version,
      occurredAt: createdAt,
    },
  };
}

/** Returns the event of a deleted task. A deletion comes after the last version of a task. */
export function deletionEvent(task: DeletedTask): TaskEvent {
  const { id, title, status, assignedAgent, projectId, version, deletedAt } = task;
  return {
    event: 'task.deleted',
    data: {
      task: { id, title, status, assignedAgent, projectId },
      sequence: version + 1,
      occurredAt: deletedAt,
    },
  };
}
