import { listExecutions as row } from '../../lib/contract/executions.ts';
import { listExecutions } from '../../lib/executions/executions.ts';
import { serve } from '../../lib/http/serve.ts';

export const handler = serve(row, async ({ query, caller }, context) => {
  const { limit, offset, ...filter } = query;
  return listExecutions(context, caller.organization, filter, { limit, offset }, caller.scopes);
});
