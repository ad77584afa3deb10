import { listTasks as row } from '../../lib/contract/tasks.ts';
import { serve } from '../../lib/http/serve.ts';
import { listTasks } from '../../lib/tasks/tasks.ts';

export const handler = serve(row, async ({ query, caller }, context) => {
  const { status, priority, assigned_agent: agent, project_id: project, include, limit, offset } = query;
  const filter = { status, priority, agent, project };
  return listTasks(context, caller.organization, filter, { limit, offset }, include);
});
