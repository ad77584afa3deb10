import type { EventName } from '../../lib/contract/events.ts';
import type { TaskStatus } from '../../lib/contract/tasks.ts';
import type { ExecutionHead } from '../../lib/table/executions/execution-items.ts';

/** A task by the responses to its writer: all its statuses, from the first, and its version. */
export type Written = { statuses: TaskStatus[]; version: number };

/** All writes with a successful response: the tasks by their ids, the number of their events, and the executions. */
export type Ledger = { tasks: Map<string, Written>; events: number; executions: Set<string> };

/** The identity of an event: no task and no execution of a soak gets a status twice. */
export type EventIdentity = { event: EventName; id: string; status: string };

/** Returns the events of the statuses of a task, in their order. */
export function eventsOf(id: string, statuses: readonly TaskStatus[]): EventIdentity[] {
  return statuses.flatMap((status, nth) => {
    const identity = (event: EventName): EventIdentity => ({ event, id, status });
    if (nth === 0) return [identity('task.created')];
    return status === 'done'
      ? [identity('task.status_changed'), identity('task.completed')]
      : [identity('task.status_changed')];
  });
}

/** Returns the events of an execution: that of its start, and that of its end once it has ended. */
export function eventsOfExecution({ id, status }: Pick<ExecutionHead, 'id' | 'status'>): EventIdentity[] {
  const start: EventIdentity = { event: 'agent.spawned', id, status: 'running' };
  return status === 'running' ? [start] : [start, { event: `agent.${status}`, id, status }];
}
