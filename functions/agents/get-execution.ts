import { executionsApp } from '../../lib/apps/executions.ts';
import { getExecution } from '../../lib/contract/executions.ts';
import { serve } from '../../lib/http/serve.ts';

export const handler = serve(
  getExecution,
  async ({ params, caller }, { executions }) => executions.get(caller.organization, params.name, params.id),
  executionsApp,
);
