import { listAgents } from '../../lib/agents/agents.ts';
import { listAgents as row } from '../../lib/contract/agents.ts';
import { serve } from '../../lib/http/serve.ts';

export const handler = serve(row, async ({ query, caller }, context) => {
  const { limit, offset, ...filter } = query;
  return listAgents(context, caller.organization, filter, { limit, offset });
});
