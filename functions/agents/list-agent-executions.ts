import { executionsApp } from '../../lib/apps/executions.ts';
import { listAgentExecutions } from '../../lib/contract/executions.ts';
import { serve } from '../../lib/http/serve.ts';

export const handler = serve(
  listAgentExecutions,
  async ({ params, query, caller }, { executions }) => {
    const { limit, offset, ...filter } = query;
    return executions.listOf(caller.organization, params.name, filter, { limit, offset });
  },
  executionsApp,
);
