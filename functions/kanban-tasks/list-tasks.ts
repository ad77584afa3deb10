import { listComments as listCommentsRow } from '../../lib/contract/tasks/comments.ts';
import { getTaskHistory as historyRow } from '../../lib/contract/tasks/history.ts';
import { listReadyTasks as listReadyRow } from '../../lib/contract/tasks/task-claims.ts';
import { searchTasks as searchRow } from '../../lib/contract/tasks/task-search.ts';
import * as rows from '../../lib/contract/tasks/tasks.ts';
import { byRoute } from '../../lib/http/by-route.ts';
import { serve } from '../../lib/http/serve.ts';
import { listComments } from '../../lib/tasks/discussion/comments.ts';
import { getTaskHistory } from '../../lib/tasks/discussion/task-history.ts';
import { listReadyTasks } from '../../lib/tasks/ready-tasks.ts';
import { searchTasks } from '../../lib/tasks/search-tasks.ts';
import { countTasks } from '../../lib/tasks/task-counts.ts';
import { listTasks } from '../../lib/tasks/tasks.ts';

const list = serve(rows.listTasks, async ({ query, caller }, context) => {
  const { assigned_agent: agent, project_id: project, waiting_for: waitingFor, include, ...rest } = query;
  const { status, priority, limit, offset } = rest;
  const filter = { status, waitingFor, priority, agent, project };
  return listTasks(context, caller.organization, filter, { limit, offset }, include);
});

const count = serve(rows.countTasks, async ({ query, caller }, context) => {
  const { group_by: groupBy, status, priority, assigned_agent: agent, project_id: project, ...rest } = query;
  const filter = { status, waitingFor: rest.waiting_for, priority, agent, project };
  return countTasks(context, caller.organization, filter, groupBy);
});

const ready = serve(listReadyRow, async ({ query, caller }, context) => {
  const { assigned_agent: agent, project_id: project, limit } = query;
  return listReadyTasks(context, caller.organization, { agent, project }, limit);
});

const comments = serve(listCommentsRow, async ({ params, query, caller }, context) =>
  listComments(context, caller.organization, params.id, query),
);

const history = serve(historyRow, async ({ params, query, caller }, context) =>
  getTaskHistory(context, caller.organization, params.id, query),
);

const search = serve(searchRow, async ({ query, caller }, context) => {
  const { q, assigned_agent: agent, project_id: project, ...rest } = query;
  return searchTasks(context, caller.organization, q, { agent, project, ...rest });
});

export const handler = byRoute(
  [rows.listTasks, list],
  [rows.countTasks, count],
  [listReadyRow, ready],
  [listCommentsRow, comments],
  [historyRow, history],
  [searchRow, search],
);
