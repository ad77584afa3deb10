import { type Task, taskPriorities, taskStatuses } from '../../../lib/contract/tasks.ts';
import type { TaskFilter } from '../../../lib/table/tasks/task-items.ts';
import { agents } from './test-table.ts';

/** The fields of a task in the model of a board. */
export type Known = Pick<Task, 'id' | 'status' | 'priority' | 'assignedAgent' | 'projectId'>;

/** The projects of tasks in tests. */
export const projects = ['proj_apollo', 'proj_gemini'] as const;

const orNone = <Value>(values: readonly Value[]): (Value | undefined)[] => [undefined, ...values];

/** All combinations of filters, and no filter. */
export const filters: TaskFilter[] = orNone(taskStatuses).flatMap((status) =>
  orNone(taskPriorities).flatMap((priority) =>
    orNone(agents).flatMap((agent) => orNone(projects).map((project) => ({ status, priority, agent, project }))),
  ),
);

/** Returns the ids of the tasks that match a filter, newest first. A simple reference for the lists of a board. */
export function listed(tasks: readonly Known[], { status, priority, agent, project }: TaskFilter): string[] {
  return tasks
    .filter((task) => status === undefined || task.status === status)
    .filter((task) => priority === undefined || task.priority === priority)
    .filter((task) => agent === undefined || task.assignedAgent === agent)
    .filter((task) => project === undefined || task.projectId === project)
    .map(({ id }) => id)
    .sort()
    .reverse();
}

/** Returns the offsets at which the periods of a list begin: the first four characters of a ULID name its period. */
export function periodBorders(ids: readonly string[]): number[] {
  const periodOf = (id = '') => id.slice(3, 7);
  return ids.flatMap((id, at) => (at > 0 && periodOf(id) !== periodOf(ids[at - 1]) ? [at] : []));
}

/** Returns offsets to test: the start, the borders of pages and periods, the middle, the last page and past the end. */
export function offsetsInto(ids: readonly string[], limit: number): number[] {
  const total = ids.length;
  const lastPage = Math.max(0, Math.ceil(total / limit) - 1) * limit;
  const around = [limit, ...periodBorders(ids).slice(0, 3)].flatMap((border) => [border - 1, border, border + 1]);
  const all = [0, 1, ...around, Math.floor(total / 2), lastPage, total - 1, total, total + 1];
  return [...new Set(all)].filter((offset) => offset >= 0 && offset <= total + 1).concat(total + 1000);
}
