import { timeOf, timestamp, ulidOf } from '../../contract/ids.ts';
import type { Organization } from '../../contract/organization.ts';
import type { Claim, ClaimEndReason } from '../../contract/tasks/claims.ts';
import {
  reviewStatuses,
  type Task,
  type TaskPriority,
  type TaskStatus,
  taskPriorities,
  taskStatuses,
} from '../../contract/tasks/tasks.ts';
import { type Authorship, authorship } from '../access/current-request.ts';
import { keys } from '../access/keys.ts';
import type { Item } from '../access/write.ts';
import type { ListMembership } from '../lists/listing.ts';

/** The kind of the items of tasks. */
export const taskKind = 'task';

/** A task with the fields that only the store uses. */
export type StoredTask = Task & {
  /** The number of changes. The `ETag` follows from it and the id. */
  version: number;
  /** The ids of the tasks that have this one in their `dependsOn`. */
  dependents: string[];
  /** The id of the last execution that started on the task. It may have ended. */
  owner?: string;
  /**
   * The id of the last execution that completed and moved the task. Executions on dependents of the task get its output. It may
   * be deleted. Absent on tasks whose executions ended in an earlier version.
   */
  lastExecution?: string;
  /** The id of the execution on the task that has ended last, however it ended: its result is shown to reviewers. */
  endedExecution?: string;
  /**
   * The id of the agent that the task is assigned to: another agent can get the name after a deletion. Absent on tasks that
   * an earlier version assigned.
   */
  assignedAgentId?: string;
  /** The id of the agent that created the task in one of its executions; absent if a request created it. */
  createdBy?: string;
  /**
   * Present if the task is not offered to workers while it is open: one of its dependencies is not done, or it is stopped. It
   * follows changes of the dependencies within seconds; see `lib/tasks/dependents.ts`.
   */
  held?: true;
  /** The status before the claim, which the task gets again after it. Only while it has a claim, which may be over. */
  claimFrom?: TaskStatus;
  /** When the claim was renewed last; ISO 8601. It can be one of before. */
  renewedAt?: string;
  /** How many claims in a row were released as failed. */
  failedClaims?: number;
  /** How the last claim ended, for its event. */
  claimEnd?: ClaimEnd;
  /** How many executions the service has started on the task in its round; see `lib/tasks/rounds.ts`. */
  autoRuns?: number;
  /** The failure of the last of them. */
  autoRunFailure?: { executionId: string; error: string };
  /**
   * The ids of the agents in whose executions the task came to its agent, from the first on. Absent if a caller has created or
   * assigned it.
   */
  chain?: string[];
  /** Present if the last of these agents may not delegate, so that a person has to start the task. */
  noDelegate?: true;
  /** Who has accepted the task in place of a person, and the execution whose output was accepted. */
  accepted?: { by: 'gates'; executionId: string };
  /** The ids of the comments of its latest reviews, the newest first. Executions and claims get their texts. */
  reviews?: string[];
  /** The last review, and the version of the task that it has led to. */
  lastReview?: { version: number; note?: string };
  /** The entry in the sweeper's index: when it looks at the claim, or at the dependents. */
  due?: string;
  dueAt?: string;
} & Partial<Authorship>;

/** The end of a claim: which one it was, why it ended, and the note of the worker, if it left one. */
export type ClaimEnd = Pick<Claim, 'id' | 'worker' | 'note'> & { reason: ClaimEndReason };

/** The filters of a list of tasks. */
export type TaskFilter = {
  status?: TaskStatus | undefined;
  /** What the tasks wait for. It excludes a status. */
  waitingFor?: 'review' | undefined;
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

/** The letters of open tasks that are not offered to workers, so that a search for work does not read their rows. */
const heldLetters: Partial<Record<TaskStatus, string>> = { backlog: 'w', assigned: 'v' };

const priorityLetters: Record<TaskPriority, string> = { low: 'l', medium: 'm', high: 'h', critical: 'c' };

/** Returns the facet of a status and a priority: two letters, because a counter has an attribute for each of 32. */
export const taskFacet = (status: TaskStatus, priority: TaskPriority) =>
  statusLetters[status] + priorityLetters[priority];

/** Returns the facets of a status and a priority: also the facet of held tasks, if there can be some. */
export function bothFacetsOf(status: TaskStatus, priority: TaskPriority): string[] {
  return [statusLetters[status], heldLetters[status] ?? []].flat().map((letter) => letter + priorityLetters[priority]);
}

/** The facets of a query: facets that any task can have, and facets of held tasks, which are read only if there are some. */
export type QueriedFacets = { facets: string[]; rareFacets: string[] };

/** Returns the statuses that a filter asks for; `undefined` if it takes all. */
export function statusesOf({ status, waitingFor }: TaskFilter): readonly TaskStatus[] | undefined {
  if (status) return [status];
  return waitingFor ? reviewStatuses : undefined;
}

/** Returns the facets that match a filter. */
export function facetsOf(filter: TaskFilter): QueriedFacets {
  const { priority } = filter;
  const statuses = statusesOf(filter) ?? taskStatuses;
  const priorities = priority ? [priority] : taskPriorities;
  const all = statuses.flatMap((one) => priorities.map((other) => bothFacetsOf(one, other)));
  return { facets: all.flatMap(([facet = '']) => facet), rareFacets: all.flatMap(([, held]) => held ?? []) };
}

/** Returns the smallest list that has all tasks that match a filter. */
export function taskListOf(organization: Organization, { agent, project }: TaskFilter) {
  return keys.taskScope(organization, { ...(agent && { agent }), ...(project && { project }) });
}

/** Returns the lists of a task: all tasks, the tasks of its agent, of its project, and of its agent in its project. */
export function taskMembership(organization: Organization, task: Task & Pick<StoredTask, 'held'>): ListMembership {
  const { assignedAgent: agent, projectId: project } = task;
  const filters = [
    {},
    ...(agent ? [{ agent }] : []),
    ...(project ? [{ project }] : []),
    ...(agent && project ? [{ agent, project }] : []),
  ];
  return {
    ulid: ulidOf(task.id),
    facet: ((task.held && heldLetters[task.status]) ?? statusLetters[task.status]) + priorityLetters[task.priority],
    lists: filters.map((filter) => keys.taskScope(organization, filter)),
  };
}

/** Returns the item of a task. */
export function taskItem(organization: Organization, task: StoredTask): Item {
  const { id, createdAt, dependents, dependsOn, ...rest } = task;
  return {
    ...keys.task(organization, ulidOf(id)),
    kind: taskKind,
    ...rest,
    ...authorship(),
    ...(dependsOn.length > 0 && { dependsOn }),
    ...(dependents.length > 0 && { dependents: new Set(dependents) }),
  };
}

/** Returns the task of an item. Its time of creation is the time of its id. */
export function taskFrom(item: Item): StoredTask {
  const { pk, sk, kind, dependents, dependsOn, ...rest } = item;
  return {
    ...rest,
    id: `tk_${sk}`,
    dependsOn: dependsOn ?? [],
    dependents: [...((dependents as Set<string> | undefined) ?? [])].sort(),
    createdAt: timestamp(timeOf(sk as string)),
  } as StoredTask;
}

/** Returns whether a task matches a filter. Rows can be older than the tasks that were read after them. */
export function matches(task: Task, filter: TaskFilter): boolean {
  const { priority, agent, project } = filter;
  return (
    (statusesOf(filter)?.includes(task.status) ?? true) &&
    (!priority || task.priority === priority) &&
    (!agent || task.assignedAgent === agent) &&
    (!project || task.projectId === project)
  );
}
