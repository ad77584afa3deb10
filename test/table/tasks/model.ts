import { type Task, taskPriorities, taskStatuses } from '../../../lib/contract/tasks/tasks.ts';
import type { TaskFilter } from '../../../lib/table/tasks/task-items.ts';
import { listTasks } from '../../../lib/tasks/tasks.ts';
import type { ExpectedList } from '../lists/model.ts';
import { agents, type TestTable } from './test-table.ts';

/** The fields of a task in the model. */
export type Known = Pick<Task, 'id' | 'status' | 'priority' | 'assignedAgent' | 'projectId'>;

/** The projects of tasks in tests. */
export const projects = ['proj_apollo', 'proj_gemini'] as const;

const orNone = <Value>(values: readonly Value[]): (Value | undefined)[] => [undefined, ...values];

/** All combinations of filters, and no filter. */
const filters: TaskFilter[] = orNone(taskStatuses).flatMap((status) =>
  orNone(taskPriorities).flatMap((priority) =>
    orNone(agents).flatMap((agent) => orNone(projects).map((project) => ({ status, priority, agent, project }))),
  ),
);

/** Returns the ids of the tasks that match a filter, newest first. */
function listed(tasks: readonly Known[], { status, priority, agent, project }: TaskFilter): string[] {
  return tasks
    .filter((task) => status === undefined || task.status === status)
    .filter((task) => priority === undefined || task.priority === priority)
    .filter((task) => agent === undefined || task.assignedAgent === agent)
    .filter((task) => project === undefined || task.projectId === project)
    .map(({ id }) => id)
    .sort()
    .reverse();
}

/** Returns the lists of tasks with every filter. */
export function taskLists(board: TestTable, tasks: readonly Known[]): (ExpectedList & { filter: TaskFilter })[] {
  return filters.map((filter) => ({
    filter,
    ids: listed(tasks, filter),
    read: (page) => listTasks(board, board.organization, filter, page),
  }));
}
