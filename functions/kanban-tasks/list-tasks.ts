import { listReadyTasks as listReadyRow } from '../../lib/contract/task-claims.ts';
import { searchTasks as searchRow } from '../../lib/contract/task-search.ts';
import * as rows from '../../lib/contract/tasks.ts';
import { byRoute } from '../../lib/http/by-route.ts';
import { serve } from '../../lib/http/serve.ts';
import { listReadyTasks } from '../../lib/tasks/ready-tasks.ts';
import { searchTasks } from '../../lib/tasks/search-tasks.ts';
import { countTasks } from '../../lib/tasks/task-counts.ts';
import { listTasks } from '../../lib/tasks/tasks.ts';

const list = serve(rows.listTasks, async ({ query, caller }, context) => {
  const { status, priority, assigned_agent: agent, project_id: project, include, limit, offset } = query;
  const filter = { status, priority, agent, project };
  return listTasks(context, caller.organization, filter, { limit, offset }, include);
});

const count = serve(rows.countTasks, async ({ query, caller }, context) => {
  const { group_by: groupBy, status, priority, assigned_agent: agent, project_id: project } = query;
  return countTasks(context, caller.organization, { status, priority, agent, project }, groupBy);
});

const ready = serve(listReadyRow, async ({ query, caller }, context) => {
  const { assigned_agent: agent, project_id: project, limit } = query;
  return listReadyTasks(context, caller.organization, { agent, project }, limit);
});

const search = serve(searchRow, async ({ query, caller }, context) => {
  const { q, assigned_agent: agent, project_id: project, ...rest } = query;
  return searchTasks(context, caller.organization, q, { agent, project, ...rest });
});

export const handler = byRoute(
  [rows.listTasks, list],
  [rows.countTasks, count],
  [listReadyRow, ready],
  [searchRow, search],
);
