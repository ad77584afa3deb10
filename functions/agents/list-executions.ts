import { executionsApp } from '../../lib/apps/executions.ts';
import { listExecutions } from '../../lib/contract/executions.ts';
import { serve } from '../../lib/http/serve.ts';

export const handler = serve(
  listExecutions,
  async ({ query, caller }, { executions }) => {
    const { limit, offset, ...filter } = query;
    return executions.list(caller.organization, filter, { limit, offset });
  },
  executionsApp,
);
