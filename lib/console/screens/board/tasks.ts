import type { Operations, Task, TaskDetail, TaskPriority, TaskStatus } from '../../../client/operations.ts';

/** The columns of the board in their order, by status. */
export const statusLabels: Readonly<Record<TaskStatus, string>> = {
  backlog: 'Backlog',
  assigned: 'Assigned',
  in_progress: 'In progress',
  qa_review: 'QA review',
  up_for_review: 'Up for review',
  done: 'Done',
};

/** The statuses in the order of the columns. */
export const statuses = Object.keys(statusLabels) as TaskStatus[];

const priorityRanks: Readonly<Record<TaskPriority, number>> = { low: 0, medium: 1, high: 2, critical: 3 };

/** The priorities, the lowest first. */
export const priorities = Object.keys(priorityRanks) as TaskPriority[];

/** The pattern of the id of a project, for the attribute of an input. */
export const projectPattern = 'proj_[A-Za-z0-9_\\-]{1,64}';

/** Returns the id of a project without the prefix that all of them have. */
export function projectName(id: string): string {
  return id.replace(/^proj_/, '');
}

/** A task as the user has seen it, from a list or alone. */
export type SeenTask = Task | TaskDetail;

/** The filters of the board as the query of `listTasks`. */
export type Filters = Pick<
  NonNullable<Operations['listTasks']['request']['query']>,
  'project_id' | 'assigned_agent' | 'priority'
>;

/** Returns the filters in the search parameters of the route. An unknown priority filters nothing. */
export function filtersOf(search: { project?: string; agent?: string; priority?: string }): Filters {
  const priority = priorities.find((one) => one === search.priority);
  return {
    ...(search.project && { project_id: search.project }),
    ...(search.agent && { assigned_agent: search.agent }),
    ...(priority && { priority }),
  };
}
