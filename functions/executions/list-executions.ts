import * as rows from '../../lib/contract/executions/executions.ts';
import { listAgentExecutions, listExecutions } from '../../lib/executions/executions.ts';
import { byRoute } from '../../lib/http/by-route.ts';
import { serve } from '../../lib/http/serve.ts';

const list = serve(rows.listExecutions, async ({ query, caller }, context) => {
  const { limit, offset, ...filter } = query;
  return listExecutions(context, caller.organization, filter, { limit, offset }, caller.scopes);
});

const listOfAgent = serve(rows.listAgentExecutions, async ({ params, query, caller }, context) => {
  const { limit, offset, ...filter } = query;
  return listAgentExecutions(context, caller.organization, params.name, filter, { limit, offset }, caller.scopes);
});

export const handler = byRoute([rows.listExecutions, list], [rows.listAgentExecutions, listOfAgent]);
