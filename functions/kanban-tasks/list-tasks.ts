import { tasksApp } from '../../lib/apps/tasks.ts';
import { listTasks } from '../../lib/contract/tasks.ts';
import { serve } from '../../lib/http/serve.ts';

export const handler = serve(
  listTasks,
  async ({ query, caller }, { tasks }) => {
    const { status, priority, assigned_agent: agent, project_id: project, limit, offset } = query;
    return tasks.list(caller.organization, { status, priority, agent, project }, { limit, offset });
  },
  tasksApp,
);
