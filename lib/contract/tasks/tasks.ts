import * as v from 'valibot';
import { type ApiReference, endpoint } from '../endpoint.ts';
import * as examples from '../examples.ts';
import { GateReasons, QualityGates } from '../executions/quality-gates.ts';
import {
  AgentName,
  count,
  described,
  id,
  label,
  listOf,
  oneOf,
  ProjectId,
  pageQuery,
  Timestamp,
  text,
} from '../shapes.ts';
import { Claim, ClaimId, Stopped } from './claims.ts';

/** The task statuses, in the order of the columns of the board. */
export const taskStatuses = ['backlog', 'assigned', 'in_progress', 'qa_review', 'up_for_review', 'done'] as const;
export const TaskStatus = oneOf(taskStatuses);
export type TaskStatus = v.InferOutput<typeof TaskStatus>;

export const taskPriorities = ['low', 'medium', 'high', 'critical'] as const;
export const TaskPriority = oneOf(taskPriorities);
export type TaskPriority = v.InferOutput<typeof TaskPriority>;

export const TaskId = id('tk', 'a task');

const title = described(label(500), 'Short summary of the task.');
const description = described(
  text(0, 10_000),
  'Details or acceptance criteria. The quality gates evaluate the output against them.',
);
const dependsOn = described(listOf(TaskId, { max: 25 }), 'Ids of the tasks that must be `done` first.');
const assignedAgent = described(AgentName, 'Name of the agent that the task is assigned to.');

/** The body of `createTask`. */
export const NewTask = v.object({
  title,
  description: v.optional(description),
  status: v.optional(TaskStatus, 'backlog'),
  priority: v.optional(TaskPriority, 'medium'),
  assignedAgent: v.optional(assignedAgent),
  projectId: v.optional(ProjectId),
  dependsOn: v.optional(dependsOn, []),
});
export type NewTask = v.InferOutput<typeof NewTask>;

/** The body of `updateTask`: any fields of `NewTask`; `null` clears an optional field. */
export const TaskPatch = v.object({
  title: v.optional(title),
  description: v.nullish(description),
  status: v.optional(TaskStatus),
  priority: v.optional(TaskPriority),
  assignedAgent: v.nullish(assignedAgent),
  projectId: v.nullish(ProjectId),
  dependsOn: v.optional(dependsOn),
  claimId: v.optional(
    described(ClaimId, 'The claim of the caller, which `status` and `description` need while a claim lasts.'),
  ),
});
export type TaskPatch = v.InferOutput<typeof TaskPatch>;

/** A task as lists and updates return it. */
export const Task = v.object({
  id: TaskId,
  title: v.string(),
  description: v.optional(v.string()),
  status: TaskStatus,
  priority: TaskPriority,
  assignedAgent: v.optional(
    described(v.string(), 'Name of the agent that the task is assigned to. It stays when the agent is deleted.'),
  ),
  projectId: v.optional(v.string()),
  dependsOn: described(v.array(TaskId), 'Ids of the tasks that must be `done` first.'),
  claim: v.optional(described(Claim, 'The claim of a worker, as long as it lasts.')),
  stopped: v.optional(described(Stopped, 'Why the task is not offered to workers, if it is not.')),
  createdAt: Timestamp,
  updatedAt: described(Timestamp, 'Time of the last change of a field.'),
});
export type Task = v.InferOutput<typeof Task>;

/** A task as `dependsOn` and `blockedBy` of another task show it. */
export const TaskReference = v.object({ id: TaskId, title: v.string(), status: TaskStatus });
export type TaskReference = v.InferOutput<typeof TaskReference>;

/** Whether the service starts an agent on a task by itself, and why not. */
const AutoRunState = v.object({
  state: oneOf(['waiting', 'held', 'stopped']),
  reason: v.optional(
    described(
      oneOf(['dependencies', 'running', 'limit', 'chain', 'no_delegate']),
      '`waiting`: for dependencies, for an execution of the agent to end, or for a limit of the organization. `held`: agents have passed the task on too often or to one that had it, or the last of them may not delegate; a person has to start it.',
    ),
  ),
  executionId: v.optional(described(v.string(), '`stopped`: the execution that has failed.')),
  error: v.optional(described(v.string(), '`stopped`: its error.')),
});

/** The longest output of a result, in bytes. */
export const resultBytes = 16 * 1024;

/** The result of the newest ended execution on a task, beside the task for a reviewer. */
export const TaskResult = v.object({
  executionId: v.string(),
  agentName: v.string(),
  status: described(oneOf(['completed', 'failed']), 'How it ended.'),
  error: v.optional(described(v.string(), 'Why it failed: a code such as `cancelled`, or a sentence.')),
  errorReason: v.optional(described(v.string(), 'Why it failed, in a sentence for people.')),
  output: v.optional(described(v.string(), 'The first 16 KiB of its output; absent if it has none.')),
  outputLength: described(count, 'Length of the whole output, in characters.'),
  qualityGates: QualityGates,
  gateReasons: v.optional(described(GateReasons, 'What the gates answered.')),
  tokensUsed: v.optional(count),
  completedAt: Timestamp,
});
export type TaskResult = v.InferOutput<typeof TaskResult>;

/** A task as `getTask` returns it. */
export const TaskDetail = v.object({
  ...Task.entries,
  dependsOn: described(v.array(TaskReference), 'The tasks that must be `done` first.'),
  blockedBy: described(v.array(TaskReference), 'The tasks in `dependsOn` that are not `done`.'),
  autoRun: v.optional(described(AutoRunState, 'Only for a task that waits for an agent with `autoRun`.')),
  result: v.optional(
    described(TaskResult, 'The newest ended execution on the task, if there is one; only with `include=result`.'),
  ),
});
export type TaskDetail = v.InferOutput<typeof TaskDetail>;

/** A task as `listTasks` returns it. */
export const TaskListItem = v.object({
  ...Task.entries,
  blockedBy: v.optional(
    described(v.array(TaskReference), 'The tasks in `dependsOn` that are not `done`; only with `include=blockedBy`.'),
  ),
});
export type TaskListItem = v.InferOutput<typeof TaskListItem>;

/** The data that `createTask` returns. */
export const TaskCreated = v.pick(Task, ['id', 'title', 'status', 'priority', 'createdAt']);

/** The filters of lists and counts of tasks. Unlike filters of executions, these are in snake_case. */
export const taskFilters = {
  status: v.optional(described(TaskStatus, 'Only tasks with this status.')),
  priority: v.optional(described(TaskPriority, 'Only tasks with this priority.')),
  assigned_agent: v.optional(
    described(AgentName, 'Only tasks that are assigned to the agent with this name, which may be deleted.'),
  ),
  project_id: v.optional(described(ProjectId, 'Only tasks of this project.')),
};

/** The statuses of tasks that wait for a review. */
export const reviewStatuses: readonly TaskStatus[] = ['qa_review', 'up_for_review'];

/** The filters of lists and counts: also what a task waits for, which stands for several statuses. */
const listFilters = {
  ...taskFilters,
  waiting_for: v.optional(
    described(
      oneOf(['review']),
      'Only tasks that wait for a review: in `qa_review` or `up_for_review`. Excludes `status`.',
    ),
  ),
};

/** Returns the schema of a query with the filters of lists. */
const filteredQuery = <const Entries extends v.ObjectEntries>(entries: Entries) =>
  v.pipe(
    v.object({ ...listFilters, ...entries }),
    v.rawCheck(({ dataset, addIssue }) => {
      const { status, waiting_for: waitingFor } = (dataset.value ?? {}) as { status?: string; waiting_for?: string };
      if (status === undefined || waitingFor === undefined) return;
      const message = 'must not be combined with status';
      addIssue({
        message,
        path: [{ type: 'object', origin: 'value', input: {}, key: 'waiting_for', value: waitingFor }],
      });
    }),
  );

/** The fields that tasks can be counted by, as the filters name them. */
export const TaskGrouping = oneOf(['status', 'priority', 'assigned_agent']);
export type TaskGrouping = v.InferOutput<typeof TaskGrouping>;

/** The number of tasks with the same value of a field. */
export const TaskGroup = v.object({
  value: described(
    v.nullable(v.string()),
    'The status, the priority or the name of the agent. `null`: the tasks without an agent, and those whose agent is deleted.',
  ),
  count: described(count, 'Number of tasks with this value.'),
});
export type TaskGroup = v.InferOutput<typeof TaskGroup>;

/** The numbers of tasks that `countTasks` returns. */
export const TaskCounts = v.object({
  groupBy: TaskGrouping,
  total: described(count, 'Number of tasks that match the filters: the sum of all groups.'),
  groups: v.array(TaskGroup),
});
export type TaskCounts = v.InferOutput<typeof TaskCounts>;

/** An example of a task that is in progress. */
export const exampleTask = {
  id: examples.taskId,
  title: 'Build the landing page',
  description: 'It looks like the drawing, on a phone too.',
  status: 'in_progress',
  priority: 'high',
  assignedAgent: examples.agentName,
  projectId: examples.projectId,
  dependsOn: [examples.dependencyId],
  createdAt: examples.planned,
  updatedAt: examples.started,
} as const;

const exampleDependency = { id: examples.dependencyId, title: 'Draw the landing page', status: 'done' } as const;

export const listTasks = endpoint({
  method: 'GET',
  path: '/api/kanban-tasks',
  scope: 'tasks:read',
  summary: 'List tasks',
  query: filteredQuery({
    include: v.optional(
      described(
        oneOf(['blockedBy']),
        'Add `blockedBy` to the tasks, as a single task has it. It takes a read of each different task that they depend on.',
      ),
    ),
    ...pageQuery,
  }),
  status: 200,
  data: TaskListItem,
  paged: true,
});

export const listTasksReference = (): ApiReference<typeof listTasks> => ({
  description:
    'Returns the tasks that match all filters, newest first. The list includes each change as soon as its request has responded, and `pagination.total` is exact at any size. A valid filter that matches no task leads to an empty page.',
  data: [exampleTask],
});

export const countTasks = endpoint({
  method: 'GET',
  path: '/api/kanban-tasks/counts',
  scope: 'tasks:read',
  summary: 'Count tasks',
  query: filteredQuery({
    group_by: v.optional(described(TaskGrouping, 'The field that the tasks are counted by.'), 'status'),
  }),
  status: 200,
  data: TaskCounts,
  errors: ['limit_reached'],
  servedBy: 'listTasks',
});

export const countTasksReference = (): ApiReference<typeof countTasks> => ({
  description: `Returns how many of the tasks that match all filters have each value of a field. The counts are exact at any size, and include each change as soon as its request has responded.

- By \`status\` and \`priority\`, each value has a group, in the order of the enumeration, also without tasks.
- By \`assigned_agent\`, each agent with tasks has a group, in alphabetical order. The last group is \`null\`: the tasks without an agent, and those whose agent is deleted. The filter \`assigned_agent\` also counts the tasks of a deleted agent.

No tasks are read. By \`status\` and \`priority\`, and with the filter \`assigned_agent\`, the counts take one query, as the total of a list does. By \`assigned_agent\` without this filter, they take two queries and one for each agent of the organization. With more than 200 agents the response is \`limit_reached\`. A task that is assigned to another agent during the request can then be counted for both agents or for neither.`,
  data: {
    groupBy: 'status',
    total: 42,
    groups: [
      { value: 'backlog', count: 17 },
      { value: 'assigned', count: 4 },
      { value: 'in_progress', count: 3 },
      { value: 'qa_review', count: 0 },
      { value: 'up_for_review', count: 1 },
      { value: 'done', count: 17 },
    ],
  },
});

/** The fixed paths that also match the path of a task; no task has such an id. */
const fixedBeside = { counts: 'GET', ready: 'GET', search: 'GET', 'claim-next': 'POST' } as const;

export const createTask = endpoint({
  method: 'POST',
  path: '/api/kanban-tasks',
  scope: 'tasks:write',
  summary: 'Create a task',
  body: NewTask,
  status: 201,
  resource: TaskDetail,
  data: TaskCreated,
  errors: ['unknown_reference', 'limit_reached'],
});

export const createTaskReference = (): ApiReference<typeof createTask> => ({
  description:
    'Creates a task. The response has five fields; get the task for the others. A new task can have any status. `dependsOn` and `assignedAgent` must name existing tasks and an existing agent. Publishes `task.created`, whatever the status.',
  body: {
    title: exampleTask.title,
    description: exampleTask.description,
    priority: exampleTask.priority,
    projectId: exampleTask.projectId,
  },
  furtherBodies: {
    'With an agent and a dependency': {
      title: exampleTask.title,
      assignedAgent: exampleTask.assignedAgent,
      dependsOn: exampleTask.dependsOn,
    },
  },
  data: {
    id: exampleTask.id,
    title: exampleTask.title,
    status: 'backlog',
    priority: exampleTask.priority,
    createdAt: exampleTask.createdAt,
  },
});

export const getTask = endpoint({
  method: 'GET',
  path: '/api/kanban-tasks/:id',
  scope: 'tasks:read',
  summary: 'Get a task',
  fixedBeside: { 'claim-next': 'POST' },
  params: { id: TaskId },
  query: v.object({
    include: v.optional(
      described(
        oneOf(['result']),
        'Add `result`: the newest ended execution on the task, with output and quality gates.',
      ),
    ),
  }),
  status: 200,
  data: TaskDetail,
  versioned: true,
});

export const getTaskReference = (): ApiReference<typeof getTask> => ({
  description:
    'Returns the task with its dependencies. Unlike in lists, `dependsOn` has the id, title and status of each task; `blockedBy` has those that are not `done`.',
  data: { ...exampleTask, dependsOn: [exampleDependency], blockedBy: [] },
});

export const updateTask = endpoint({
  method: 'PATCH',
  path: '/api/kanban-tasks/:id',
  scope: 'tasks:write',
  summary: 'Update a task',
  fixedBeside,
  params: { id: TaskId },
  body: TaskPatch,
  status: 200,
  data: Task,
  versioned: true,
  errors: ['unknown_reference', 'dependency_cycle', 'limit_reached', 'task_claimed', 'claim_lost'],
});

export const updateTaskReference = (): ApiReference<typeof updateTask> => ({
  description:
    'Changes only the fields in the request. Concurrent updates of different fields both take effect. `null` clears `description`, `assignedAgent` or `projectId`. Any status can follow any other. A request that changes no value writes nothing, and the `ETag` stays the same. Publishes `task.status_changed` if the status changes, and also `task.completed` if the new status is `done`.',
  body: { status: 'in_progress' },
  furtherBodies: { 'Another agent, no project': { assignedAgent: examples.agentName, projectId: null } },
  data: exampleTask,
});

export const deleteTask = endpoint({
  method: 'DELETE',
  path: '/api/kanban-tasks/:id',
  scope: 'tasks:write',
  summary: 'Delete a task',
  fixedBeside,
  params: { id: TaskId },
  status: 200,
  versioned: true,
  errors: ['has_dependents', 'task_claimed'],
});

export const deleteTaskReference = (): ApiReference<typeof deleteTask> => ({
  description:
    'Permanently deletes the task. Fails with `has_dependents` while tasks that are not `done` depend on it; `details` names them. The task is removed from `dependsOn` of dependent tasks that are `done`. Publishes `task.deleted`.',
});
