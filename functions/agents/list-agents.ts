import { agentsApp } from '../../lib/apps/agents.ts';
import { listAgents } from '../../lib/contract/agents.ts';
import { serve } from '../../lib/http/serve.ts';

export const handler = serve(
  listAgents,
  async ({ query, caller }, { agents }) => {
    const { limit, offset, ...filter } = query;
    return agents.list(caller.organization, filter, { limit, offset });
  },
  agentsApp,
);
