import { timeOf, timestamp, ulidOf } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import { type Task, type TaskPriority, type TaskStatus, taskPriorities, taskStatuses } from '../../contract/tasks.ts';
import { requestFields } from '../../request-context.ts';
import { keys } from '../keys.ts';
import type { ListMembership } from '../lists/listing.ts';
import type { Item } from '../write.ts';

/** A task with the fields that only the store uses. */
export type StoredTask = Task & {
  /** The number of changes. The `ETag` follows from it and the id. */
  version: number;
  /** The ids of the tasks that have this one in their `dependsOn`. */
  dependents: string[];
  /** The id of the last execution that started on the task. It may have ended. */
  owner?: string;
  /**
   * The id of the agent that the task is assigned to: another agent can get the name after a deletion. Absent on tasks that
   * an earlier version assigned.
   */
  assignedAgentId?: string;
  /** The id of the agent that created the task in one of its executions; absent if a request created it. */
  createdBy?: string;
  /** The id of the request that made the last change, if it is known. */
  requestId?: string;
};

/** The filters of a list of tasks. */
export type TaskFilter = {
  status?: TaskStatus | undefined;
  priority?: TaskPriority | undefined;
  agent?: string | undefined;
  project?: string | undefined;
};

const statusLetters: Record<TaskStatus, string> = {
  backlog: 'b',
  assigned: 'a',
  in_progress: 'i',
  qa_review: 'q',
  up_for_review: 'u',
  done: 'd',
};
const priorityLetters: Record<TaskPriority, string> = { low: 'l', medium: 'm', high: 'h', critical: 'c' };

/** Returns the facet of a status and a priority: two letters, because a counter has an attribute for each of 24. */
export const facetOf = (status: TaskStatus, priority: TaskPriority) =>
  statusLetters[status] + priorityLetters[priority];

/** The facets of all tasks. */
export const allFacets = taskStatuses.flatMap((status) => taskPriorities.map((priority) => facetOf(status, priority)));

/** Returns the facets that match a filter; `undefined` if it has neither status nor priority. */
export function facetsOf({ status, priority }: TaskFilter): string[] | undefined {
  if (!status && !priority) return undefined;
  const statuses = status ? [status] : taskStatuses;
  const priorities = priority ? [priority] : taskPriorities;
  return statuses.flatMap((one) => priorities.map((other) => facetOf(one, other)));
}

/** Returns the smallest list that has all tasks that match a filter. */
export function taskListOf(organization: Organization, { agent, project }: TaskFilter) {
  return keys.taskScope(organization, { ...(agent && { agent }), ...(project && { project }) });
}

/** Returns the lists of a task: all tasks, those of its agent, of its project, and of its agent in its project. */
export function taskMembership(organization: Organization, task: Task): ListMembership {
  const { assignedAgent: agent, projectId: project } = task;
  const filters = [
    {},
    ...(agent ? [{ agent }] : []),
    ...(project ? [{ project }] : []),
    ...(agent && project ? [{ agent, project }] : []),
  ];
  return {
    ulid: ulidOf(task.id),
    facet: facetOf(task.status, task.priority),
    lists: filters.map((filter) => keys.taskScope(organization, filter)),
  };
}

/** Returns the item of a task. */
export function taskItem(organization: Organization, task: StoredTask): Item {
  const { id, createdAt: _, dependents, dependsOn, ...rest } = task;
  return {
    ...keys.task(organization, ulidOf(id)),
    kind: 'task',
    ...rest,
    ...requestFields(),
    ...(dependsOn.length > 0 && { dependsOn }),
    ...(dependents.length > 0 && { dependents: new Set(dependents) }),
  };
}

/** Returns the task of an item. Its time of creation is the time of its id. */
export function taskFrom(item: Item): StoredTask {
  const { pk: _, sk, kind: __, dependents, dependsOn, ...rest } = item;
  return {
    ...rest,
    id: `tk_${sk}`,
    dependsOn: dependsOn ?? [],
    dependents: [...((dependents as Set<string> | undefined) ?? [])].sort(),
    createdAt: timestamp(timeOf(sk as string)),
  } as StoredTask;
}

/** Returns whether a task matches a filter. Rows can be older than the tasks that were read after them. */
export function matches(task: Task, { status, priority, agent, project }: TaskFilter): boolean {
  return (
    (!status || task.status === status) &&
    (!priority || task.priority === priority) &&
    (!agent || task.assignedAgent === agent) &&
    (!project || task.projectId === project)
  );
}
