import { executionsApp } from '../../lib/apps/executions.ts';
import { executeAgent } from '../../lib/contract/executions.ts';
import { serve } from '../../lib/http/serve.ts';

export const handler = serve(
  executeAgent,
  async ({ params, body, caller, once }, { executions }) =>
    executions.start(caller.organization, params.name, body, once),
  executionsApp,
);
