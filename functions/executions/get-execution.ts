import { getExecution as row } from '../../lib/contract/executions/executions.ts';
import { getExecution } from '../../lib/executions/executions.ts';
import { serve } from '../../lib/http/serve.ts';

export const handler = serve(row, async ({ params, caller }, context) =>
  getExecution(context, caller.organization, params.name, params.id),
);
