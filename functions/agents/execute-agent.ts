import { executionsApp } from '../../lib/apps/executions.ts';
import { executeAgent } from '../../lib/contract/executions.ts';
import { serve } from '../../lib/http/serve.ts';

export const handler = serve(
  executeAgent,
  async ({ params, body, caller, recordResponse }, { executions }) =>
    executions.start(caller.organization, params.name, body, recordResponse),
  executionsApp,
);
