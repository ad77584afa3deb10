import { listTasks as row } from '../../lib/contract/tasks.ts';
import { serve } from '../../lib/http/serve.ts';
import { listTasks } from '../../lib/tasks/tasks.ts';

export const handler = serve(row, async ({ query, caller }, context) => {
  const { status, priority, assigned_agent: agent, project_id: project, limit, offset } = query;
  return listTasks(context, caller.organization, { status, priority, agent, project }, { limit, offset });
});
