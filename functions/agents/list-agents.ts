import { getAgentHistory } from '../../lib/agents/agent-history.ts';
import { listAgents } from '../../lib/agents/agents.ts';
import { listAgents as row } from '../../lib/contract/agents/agents.ts';
import { getAgentHistory as historyRow } from '../../lib/contract/tasks/history.ts';
import { byRoute } from '../../lib/http/by-route.ts';
import { serve } from '../../lib/http/serve.ts';

const list = serve(row, async ({ query, caller }, context) => {
  const { limit, offset, ...filter } = query;
  return listAgents(context, caller.organization, filter, { limit, offset });
});

const history = serve(historyRow, async ({ params, query, caller }, context) =>
  getAgentHistory(context, caller.organization, params.name, query),
);

export const handler = byRoute([row, list], [historyRow, history]);
