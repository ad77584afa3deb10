import type { TaskStatus } from '../../lib/contract/tasks/tasks.ts';
import type { EventName } from '../../lib/contract/webhooks/events.ts';
import type { ExecutionHead } from '../../lib/table/executions/execution-items.ts';
import { nameOf } from '../webhooks/deliveries/check-pipeline.ts';

/** A task by the responses to its writer: all its statuses, from the first, and its version. */
export type Written = { statuses: TaskStatus[]; version: number };

/** All writes with a successful response: the tasks by their ids, the number of their events, and the executions. */
export type Ledger = { tasks: Map<string, Written>; events: number; executions: Set<string> };

/** An event, and its name in the check of deliveries. */
export type NamedEvent = { event: EventName; name: string };

const named = (event: EventName, id: string, status: string): NamedEvent => ({
  event,
  name: nameOf(event, { task: { id, status } }),
});

/** Returns the events of the statuses of a task, in their order. */
export function eventsOf(id: string, statuses: readonly TaskStatus[]): NamedEvent[] {
  return statuses.flatMap((status, nth) => {
    if (nth === 0) return [named('task.created', id, status)];
    const changed = named('task.status_changed', id, status);
    return status === 'done' ? [changed, named('task.completed', id, status)] : [changed];
  });
}

/** Returns the events of an execution: the event of its start, and the event of its end once it has ended. */
export function eventsOfExecution({ id, status }: Pick<ExecutionHead, 'id' | 'status'>): NamedEvent[] {
  const start = named('agent.spawned', id, 'running');
  return status === 'running' ? [start] : [start, named(`agent.${status}`, id, status)];
}
