import { type Task, taskPriorities, taskStatuses } from '../../lib/contract/tasks.ts';
import type { TaskFilter } from '../../lib/table/task-items.ts';
import { agents } from './board.ts';

/** What the model of a board knows of a task. */
export type Known = Pick<Task, 'id' | 'status' | 'priority' | 'assignedAgent' | 'projectId'>;

/** The projects that the tasks of tests belong to. */
export const projects = ['proj_apollo', 'proj_gemini'] as const;

const orNone = <Value>(values: readonly Value[]): (Value | undefined)[] => [undefined, ...values];

/** Every combination of filters, none at all included. */
export const filters: TaskFilter[] = orNone(taskStatuses).flatMap((status) =>
  orNone(taskPriorities).flatMap((priority) =>
    orNone(agents).flatMap((agent) => orNone(projects).map((project) => ({ status, priority, agent, project }))),
  ),
);

/** The ids that a filter matches, newest first: the plain way of doing what a board does at any size. */
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

/** Where a list's periods begin, as offsets: an period is what the first four characters of a ULID name. */
export function epochBorders(ids: readonly string[]): number[] {
  const epochOf = (id = '') => id.slice(3, 7);
  return ids.flatMap((id, at) => (at > 0 && epochOf(id) !== epochOf(ids[at - 1]) ? [at] : []));
}

/** Offsets worth asking for: the first ones, around pages and periods, the middle, the last page, past the end. */
export function offsetsInto(ids: readonly string[], limit: number): number[] {
  const total = ids.length;
  const lastPage = Math.max(0, Math.ceil(total / limit) - 1) * limit;
  const around = [limit, ...epochBorders(ids).slice(0, 3)].flatMap((border) => [border - 1, border, border + 1]);
  const all = [0, 1, ...around, Math.floor(total / 2), lastPage, total - 1, total, total + 1];
  return [...new Set(all)].filter((offset) => offset >= 0 && offset <= total + 1).concat(total + 1000);
}
