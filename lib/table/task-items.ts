import { timeOf, timestamp, ulidOf } from '../contract/ids.ts';
import type { Organization } from '../contract/organization.ts';
import { type Task, type TaskPriority, type TaskStatus, taskPriorities, taskStatuses } from '../contract/tasks.ts';
import { requestFields } from '../request-context.ts';
import { keys } from './keys.ts';
import type { ListMembership } from './listing.ts';
import type { Item } from './write.ts';

/** A task as it is stored: what the interface shows, and what the board keeps for itself. */
export type StoredTask = Task & {
  /** Counts the changes; the `ETag`. */
  version: number;
  /** The tasks that depend on this one: the reverse side of their `dependsOn`. */
  dependents: string[];
  /** The execution that has taken it on. It may have ended since: whoever asks looks. */
  owner?: string;
  /** The request that has changed it last, as far as it is known. */
  requestId?: string;
};

/** Which tasks a list asks for. */
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

/** A facet of the board, status × priority, in two letters: a counter row names 24 of them and must stay thin. */
const facetOf = (status: TaskStatus, priority: TaskPriority) => statusLetters[status] + priorityLetters[priority];

/** All facets of the board. */
export const allFacets = taskStatuses.flatMap((status) => taskPriorities.map((priority) => facetOf(status, priority)));

/** The facets that a filter matches; `undefined` where it names neither status nor priority. */
export function facetsOf({ status, priority }: TaskFilter): string[] | undefined {
  if (!status && !priority) return undefined;
  const statuses = status ? [status] : taskStatuses;
  const priorities = priority ? [priority] : taskPriorities;
  return statuses.flatMap((one) => priorities.map((other) => facetOf(one, other)));
}

/** Where a task stands: in its organization's list, its agent's, its project's and the pair's. */
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

/** The item that a task is stored as. */
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

/** The task that an item stores; its creation is its id's own time. */
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

/** Whether a task is what the filter asks for. A row may be a moment older than its item: the item decides. */
export function matches(task: Task, { status, priority, agent, project }: TaskFilter): boolean {
  return (
    (!status || task.status === status) &&
    (!priority || task.priority === priority) &&
    (!agent || task.assignedAgent === agent) &&
    (!project || task.projectId === project)
  );
}
