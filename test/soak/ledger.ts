import type { EventName } from '../../lib/contract/events.ts';
import type { TaskStatus } from '../../lib/contract/tasks.ts';

/** A task as its writer was answered: every status that it was given, from the first, and its version. */
export type Written = { statuses: TaskStatus[]; version: number };

/** What the service has answered for: the tasks by their ids, and the number of events that their changes are. */
export type Ledger = { tasks: Map<string, Written>; events: number };

/** An event as it can be told apart from every other: no task of a soak comes to a status twice. */
export type Told = { event: EventName; task: string; status: string };

/** The events that the statuses of a task are, in their order. */
export function eventsOf(task: string, statuses: readonly TaskStatus[]): Told[] {
  return statuses.flatMap((status, nth) => {
    const told = (event: EventName): Told => ({ event, task, status });
    if (nth === 0) return [told('task.created')];
    return status === 'done' ? [told('task.status_changed'), told('task.completed')] : [told('task.status_changed')];
  });
}
