import { listAgentExecutions as row } from '../../lib/contract/executions.ts';
import { listAgentExecutions } from '../../lib/executions/executions.ts';
import { serve } from '../../lib/http/serve.ts';

export const handler = serve(row, async ({ params, query, caller }, context) => {
  const { limit, offset, ...filter } = query;
  return listAgentExecutions(context, caller.organization, params.name, filter, { limit, offset }, caller.scopes);
});
