import * as v from 'valibot';
import { endpoint } from './endpoint.ts';
import { AgentName, id, listOf, oneOf, ProjectId, pageQuery, Timestamp, text } from './shapes.ts';

/** The columns of the board, in the specification's order. */
export const taskStatuses = ['backlog', 'assigned', 'in_progress', 'qa_review', 'up_for_review', 'done'] as const;
export const TaskStatus = oneOf(taskStatuses);
export type TaskStatus = v.InferOutput<typeof TaskStatus>;

export const taskPriorities = ['low', 'medium', 'high', 'critical'] as const;
export const TaskPriority = oneOf(taskPriorities);
export type TaskPriority = v.InferOutput<typeof TaskPriority>;

export const TaskId = id('tk');

const title = text(1, 500);
const description = text(0, 10_000);
const dependsOn = listOf(TaskId, { max: 25 });

/** The body of `createTask`. */
export const NewTask = v.object({
  title,
  description: v.optional(description),
  status: v.optional(TaskStatus, 'backlog'),
  priority: v.optional(TaskPriority, 'medium'),
  assignedAgent: v.optional(AgentName),
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
  assignedAgent: v.nullish(AgentName),
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
  assignedAgent: v.optional(v.string()),
  projectId: v.optional(v.string()),
  dependsOn: v.array(TaskId),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type Task = v.InferOutput<typeof Task>;

/** Another task, as a dependency or a blocker shows it. */
export const TaskReference = v.object({ id: TaskId, title: v.string(), status: TaskStatus });
export type TaskReference = v.InferOutput<typeof TaskReference>;

/** A task as the single read shows it. `blockedBy` are the dependencies that are not yet `done`. */
export const TaskDetail = v.object({
  ...Task.entries,
  dependsOn: v.array(TaskReference),
  blockedBy: v.array(TaskReference),
});
export type TaskDetail = v.InferOutput<typeof TaskDetail>;

/** The answer to a create: these five fields only, as specified. */
export const TaskCreated = v.pick(Task, ['id', 'title', 'status', 'priority', 'createdAt']);

/** The query of `listTasks`: filters in snake_case, as specified. */
const TaskQuery = v.object({
  status: v.optional(TaskStatus),
  priority: v.optional(TaskPriority),
  assigned_agent: v.optional(AgentName),
  project_id: v.optional(ProjectId),
  ...pageQuery,
});

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

export const createTask = endpoint({
  method: 'POST',
  path: '/api/kanban-tasks',
  scope: 'tasks:write',
  summary: 'Put a task on the board',
  body: NewTask,
  status: 201,
  resource: TaskDetail,
  data: TaskCreated,
  refuses: ['unknown_reference', 'limit_reached'],
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
  refuses: ['unknown_reference', 'dependency_cycle', 'limit_reached'],
});

export const deleteTask = endpoint({
  method: 'DELETE',
  path: '/api/kanban-tasks/:id',
  scope: 'tasks:write',
  summary: 'Delete a task for good',
  params: { id: TaskId },
  status: 200,
  versioned: true,
  refuses: ['has_dependents'],
});
