import { type Client, CrewboardError } from '../../../../client/client.ts';
import type { TaskDetail, TaskListItem, TaskPatch } from '../../../../client/operations.ts';
import { messageOf } from '../../../components/format/message-of.ts';
import { statusLabels } from '../tasks.ts';
import { type Gate, waitFor } from './run-many.ts';

/** What is done with several tasks: one change of a field for all of them, or their deletion. */
export type Action = { kind: 'change'; patch: TaskPatch } | { kind: 'delete' };

/** Returns what an action is called while it runs, and what it has done with its tasks. */
export function textsOf(action: Action): { doing: string; done: string } {
  if (action.kind === 'delete') return { doing: 'Deleting', done: 'deleted' };
  const { status, priority, assignedAgent } = action.patch;
  if (status) return { doing: 'Moving', done: `moved to ${statusLabels[status]}` };
  if (priority) return { doing: 'Changing the priority', done: `given the priority ${priority}` };
  return { doing: 'Assigning', done: assignedAgent ? `assigned to ${assignedAgent}` : 'unassigned' };
}

/** A task is no longer as the user has seen it. */
class ChangedMeanwhile extends Error {
  override message = 'It was changed in the meantime. Look at it, then try again.';
}

/** A task does not exist. */
class Gone extends Error {
  override message = 'It no longer exists.';
}

/**
 * Carries out an action on one task, if the task still is as the user has seen it. A task that already is as the user wants it stays
 * as it is, so the action can be repeated if it is unknown whether the service has carried it out.
 */
export async function carryOut(client: Client, gate: Gate, action: Action, seen: TaskListItem): Promise<void> {
  const params = { id: seen.id };
  const now = await client.getTask({ params }).catch((error: unknown) => {
    if (isStatus(error, 404)) return undefined;
    throw error;
  });
  if (!now && action.kind === 'delete') return;
  if (!now) throw new Gone();
  if (action.kind === 'change' && has(now.data, action.patch)) return;
  // Lists have no ETag. The time of the last change says whether that of the task belongs to what the list shows.
  if (now.data.updatedAt !== seen.updatedAt) throw new ChangedMeanwhile();
  await waitFor(gate);
  const { etag: ifMatch } = now;
  try {
    if (action.kind === 'delete') await client.deleteTask({ params, ifMatch });
    else await client.updateTask({ params, body: action.patch, ifMatch });
  } catch (error) {
    throw isStatus(error, 412) ? new ChangedMeanwhile() : error;
  }
}

/** The longest time that a request is repeated after, in milliseconds. */
const longestWaitMs = 120_000;

/**
 * Returns the time after which an action is repeated on a task. The client repeats what surely has changed nothing. What is left is a
 * service that is busy, and may have made the change: then the task is read again.
 */
export function retryAfterMs(error: unknown): number | undefined {
  if (!isStatus(error, 503) || error.retryAfter === undefined) return undefined;
  const milliseconds = error.retryAfter * 1000;
  return milliseconds > longestWaitMs ? undefined : milliseconds;
}

/** Returns why an action was not carried out on a task. */
export function reasonOf(error: unknown): string {
  return error instanceof CrewboardError && error.status === 0 ? 'The service could not be reached.' : messageOf(error);
}

function isStatus(error: unknown, status: number): error is CrewboardError {
  return error instanceof CrewboardError && error.status === status;
}

/** Returns whether a task has the values of a change already. `null` clears a field. */
function has(task: TaskDetail, patch: TaskPatch): boolean {
  return Object.entries(patch).every(([name, value]) => (task[name as keyof TaskDetail] ?? null) === value);
}
