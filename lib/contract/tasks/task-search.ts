import * as v from 'valibot';
import { type ApiReference, endpoint } from '../endpoint.ts';
import * as examples from '../examples.ts';
import { described, pageLimit, text } from '../shapes.ts';
import { Task, TaskId, taskFilters } from './tasks.ts';

/** The largest number of tasks that a page of a search looks at, whether they match or not. */
export const maxTasksSearched = 10_000;

export const searchTasks = endpoint({
  method: 'GET',
  path: '/api/kanban-tasks/search',
  scope: 'tasks:read',
  summary: 'Search tasks',
  query: v.object({
    q: v.pipe(
      text(2, 100),
      v.description('Search words, each the beginning of a word of the title.'),
      v.examples(['landing page']),
    ),
    ...taskFilters,
    limit: pageLimit,
    before: v.optional(described(TaskId, 'Return the newest tasks before this task, or before this `next`.')),
  }),
  status: 200,
  data: Task,
  paged: 'cursor',
  servedBy: 'listTasks',
});

export const searchTasksReference = (): ApiReference<typeof searchTasks> => ({
  description: `Returns the tasks whose title has all words of \`q\`, newest first. For the next page, send \`pagination.next\` as \`before\`; it is null at the end.

Each word of \`q\` must be the beginning of a word of the title, in any letter case. In scripts without spaces, such as Chinese, Japanese and Thai, it can begin anywhere. A \`q\` without letters and digits matches no task.

A new task or title is found about a second after the response to its request. The tasks in the response are current: none has lost a word or a filter meanwhile.

A request looks at the titles of at most 10,000 tasks, whether they match or not. If few match, a page can have fewer tasks than \`limit\`, or none, although the list continues at \`next\`.`,
  data: [
    {
      id: examples.taskId,
      title: 'Build the landing page',
      status: 'in_progress',
      priority: 'high',
      assignedAgent: examples.agentName,
      projectId: examples.projectId,
      dependsOn: [examples.dependencyId],
      createdAt: examples.planned,
      updatedAt: examples.started,
    },
  ],
});
