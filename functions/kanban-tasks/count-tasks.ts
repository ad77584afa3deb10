import { countTasks as row } from '../../lib/contract/tasks.ts';
import { serve } from '../../lib/http/serve.ts';
import { countTasks } from '../../lib/tasks/task-counts.ts';

export const handler = serve(row, async ({ query, caller }, context) => {
  const { group_by: groupBy, status, priority, assigned_agent: agent, project_id: project } = query;
  return countTasks(context, caller.organization, { status, priority, agent, project }, groupBy);
});
