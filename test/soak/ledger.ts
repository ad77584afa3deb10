import type { EventName } from '../../lib/contract/events.ts';
import type { TaskStatus } from '../../lib/contract/tasks.ts';
import type { ExecutionHead } from '../../lib/table/execution-items.ts';

/** A task as its writer was answered: every status that it was given, from the first, and its version. */
export type Written = { statuses: TaskStatus[]; version: number };

/** What the service has answered for: the tasks by their ids, how many events their changes are, and the executions. */
export type Ledger = { tasks: Map<string, Written>; events: number; executions: Set<string> };

/** An event as it can be told apart from every other: no task of a soak comes to a status twice, and no execution does. */
export type Told = { event: EventName; id: string; status: string };

/** The events that the statuses of a task are, in their order. */
export function eventsOf(id: string, statuses: readonly TaskStatus[]): Told[] {
  return statuses.flatMap((status, nth) => {
    const told = (event: EventName): Told => ({ event, id, status });
    if (nth === 0) return [told('task.created')];
    return status === 'done' ? [told('task.status_changed'), told('task.completed')] : [told('task.status_changed')];
  });
}

/** The events of an execution: that of its start, and the one of its end once it has come to it. */
export function eventsOfExecution({ id, status }: Pick<ExecutionHead, 'id' | 'status'>): Told[] {
  const start: Told = { event: 'agent.spawned', id, status: 'running' };
  return status === 'running' ? [start] : [start, { event: `agent.${status}`, id, status }];
}
