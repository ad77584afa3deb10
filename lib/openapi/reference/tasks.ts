import type * as rows from '../../contract/tasks.ts';
import type { ReferenceOf } from './row.ts';
import { story } from './story.ts';

const drawing = { id: story.dependencyId, title: 'Draw the landing page', status: 'done' } as const;

const task = {
  id: story.taskId,
  title: 'Build the landing page',
  description: 'It looks like the drawing, on a phone too.',
  status: 'in_progress',
  priority: 'high',
  assignedAgent: story.agentName,
  projectId: story.projectId,
  dependsOn: [story.dependencyId],
  createdAt: story.planned,
  updatedAt: story.started,
} as const;

/** The words and examples for the rows of the board. */
export const tasks = {
  listTasks: {
    description:
      'The filters hold together: a task is listed that matches all of them. A write that was answered is always seen, and `pagination.total` is exact at any size. A well-formed filter that nothing matches gives an empty page.',
    data: [task],
  },
  createTask: {
    description:
      'The answer has five fields; read the task for the others. A task may be put into any status. `dependsOn` and `assignedAgent` must name tasks and an agent that exist. Emits `task.created`, whatever the status.',
    body: {
      title: task.title,
      description: task.description,
      priority: task.priority,
      assignedAgent: task.assignedAgent,
      projectId: task.projectId,
      dependsOn: task.dependsOn,
    },
    data: {
      id: task.id,
      title: task.title,
      status: 'backlog',
      priority: task.priority,
      createdAt: task.createdAt,
    },
  },
  getTask: {
    description:
      'Unlike in lists, `dependsOn` has the title and the status of each task, and `blockedBy` those that are not `done` yet.',
    data: { ...task, dependsOn: [drawing], blockedBy: [] },
  },
  updateTask: {
    description:
      'Changes the fields that are sent, and no others: changes of different fields at the same time both survive. `null` clears `description`, `assignedAgent` or `projectId`. Any status may follow any other. Where nothing changes, nothing is written, and the `ETag` stays. Emits `task.status_changed` if the status changes, and `task.completed` beside it if the new one is `done`.',
    body: { status: 'in_progress', assignedAgent: story.agentName },
    data: task,
  },
  deleteTask: {
    description:
      'Refused while a task that depends on it is not `done`; `details` name these. Dependent tasks that are `done` lose the dependency with it. Emits nothing.',
  },
} as const satisfies ReferenceOf<typeof rows>;
