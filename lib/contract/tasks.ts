import * as v from 'valibot';
import { type ApiReference, endpoint } from './endpoint.ts';
import * as examples from './examples.ts';
import { AgentName, described, id, listOf, oneOf, ProjectId, pageQuery, Timestamp, text } from './shapes.ts';

/** The columns of the board, from left to right. */
export const taskStatuses = ['backlog', 'assigned', 'in_progress', 'qa_review', 'up_for_review', 'done'] as const;
export const TaskStatus = oneOf(taskStatuses);
export type TaskStatus = v.InferOutput<typeof TaskStatus>;

export const taskPriorities = ['low', 'medium', 'high', 'critical'] as const;
export const TaskPriority = oneOf(taskPriorities);
export type TaskPriority = v.InferOutput<typeof TaskPriority>;

export const TaskId = id('tk', 'a task');

const title = described(text(1, 500), 'What is to be done, in a line.');
const description = described(text(0, 10_000), 'Detail or acceptance criteria; the quality gates judge by it.');
const dependsOn = described(listOf(TaskId, { max: 25 }), 'Ids of the tasks that must be done first.');
const assignedAgent = described(AgentName, 'Name of the agent that the task is for.');

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

/** The body of `updateTask`: any of the fields of a create; `null` clears an optional one. */
export const TaskPatch = v.object({
  title: v.optional(title),
  description: v.nullish(description),
  status: v.optional(TaskStatus),
  priority: v.optional(TaskPriority),
  assignedAgent: v.nullish(assignedAgent),
  projectId: v.nullish(ProjectId),
  dependsOn: v.optional(dependsOn),
});
export type TaskPatch = v.InferOutput<typeof TaskPatch>;

/** A task as lists and changes show it. */
export const Task = v.object({
  id: TaskId,
  title: v.string(),
  description: v.optional(v.string()),
  status: TaskStatus,
  priority: TaskPriority,
  assignedAgent: v.optional(
    described(v.string(), 'Name of the agent that the task is for; it stays when the agent is deleted.'),
  ),
  projectId: v.optional(v.string()),
  dependsOn: described(v.array(TaskId), 'Ids of the tasks that must be done first.'),
  createdAt: Timestamp,
  updatedAt: described(Timestamp, 'When a field of it last changed.'),
});
export type Task = v.InferOutput<typeof Task>;

/** Another task, as a dependency or a blocker shows it. */
export const TaskReference = v.object({ id: TaskId, title: v.string(), status: TaskStatus });
export type TaskReference = v.InferOutput<typeof TaskReference>;

/** A task as the single read shows it. `blockedBy` are the dependencies that are not yet `done`. */
export const TaskDetail = v.object({
  ...Task.entries,
  dependsOn: described(v.array(TaskReference), 'The tasks that must be done first.'),
  blockedBy: described(v.array(TaskReference), 'Those of them that are not done yet.'),
});
export type TaskDetail = v.InferOutput<typeof TaskDetail>;

/** The answer to a create: these five fields only, as specified. */
export const TaskCreated = v.pick(Task, ['id', 'title', 'status', 'priority', 'createdAt']);

/** The query of `listTasks`: filters in snake_case, as specified. */
const TaskQuery = v.object({
  status: v.optional(described(TaskStatus, 'Only tasks of this status.')),
  priority: v.optional(described(TaskPriority, 'Only tasks of this priority.')),
  assigned_agent: v.optional(described(AgentName, 'Only tasks of the agent of this name, deleted or not.')),
  project_id: v.optional(described(ProjectId, 'Only tasks of this project.')),
  ...pageQuery,
});

const exampleTask = {
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
  summary: 'List the tasks of the board, newest first',
  query: TaskQuery,
  status: 200,
  data: Task,
  paged: true,
});

export const listTasksReference = (): ApiReference<typeof listTasks> => ({
  description:
    'The filters hold together: a task is listed that matches all of them. A write that was answered is always seen, and `pagination.total` is exact at any size. A well-formed filter that nothing matches gives an empty page.',
  data: [exampleTask],
});

export const createTask = endpoint({
  method: 'POST',
  path: '/api/kanban-tasks',
  scope: 'tasks:write',
  summary: 'Put a task on the board',
  body: NewTask,
  status: 201,
  resource: TaskDetail,
  data: TaskCreated,
  errors: ['unknown_reference', 'limit_reached'],
});

export const createTaskReference = (): ApiReference<typeof createTask> => ({
  description:
    'The answer has five fields; read the task for the others. A task may be put into any status. `dependsOn` and `assignedAgent` must name tasks and an agent that exist. Emits `task.created`, whatever the status.',
  body: {
    title: exampleTask.title,
    description: exampleTask.description,
    priority: exampleTask.priority,
    assignedAgent: exampleTask.assignedAgent,
    projectId: exampleTask.projectId,
    dependsOn: exampleTask.dependsOn,
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
  summary: 'Read a task, its dependencies and what blocks it',
  params: { id: TaskId },
  status: 200,
  data: TaskDetail,
  versioned: true,
});

export const getTaskReference = (): ApiReference<typeof getTask> => ({
  description:
    'Unlike in lists, `dependsOn` has the title and the status of each task, and `blockedBy` those that are not `done` yet.',
  data: { ...exampleTask, dependsOn: [exampleDependency], blockedBy: [] },
});

export const updateTask = endpoint({
  method: 'PATCH',
  path: '/api/kanban-tasks/:id',
  scope: 'tasks:write',
  summary: 'Change a task: its text, its column, its agent, its dependencies',
  params: { id: TaskId },
  body: TaskPatch,
  status: 200,
  data: Task,
  versioned: true,
  errors: ['unknown_reference', 'dependency_cycle', 'limit_reached'],
});

export const updateTaskReference = (): ApiReference<typeof updateTask> => ({
  description:
    'Changes the fields that are sent, and no others: changes of different fields at the same time both survive. `null` clears `description`, `assignedAgent` or `projectId`. Any status may follow any other. Where nothing changes, nothing is written, and the `ETag` stays. Emits `task.status_changed` if the status changes, and `task.completed` beside it if the new one is `done`.',
  body: { status: 'in_progress', assignedAgent: examples.agentName },
  data: exampleTask,
});

export const deleteTask = endpoint({
  method: 'DELETE',
  path: '/api/kanban-tasks/:id',
  scope: 'tasks:write',
  summary: 'Delete a task for good',
  params: { id: TaskId },
  status: 200,
  versioned: true,
  errors: ['has_dependents'],
});

export const deleteTaskReference = (): ApiReference<typeof deleteTask> => ({
  description:
    'Refused while a task that depends on it is not `done`; `details` name these. Dependent tasks that are `done` lose the dependency with it. Emits nothing.',
});
