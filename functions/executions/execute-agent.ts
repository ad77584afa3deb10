import { executeAgent as row } from '../../lib/contract/executions/executions.ts';
import { executeAgent } from '../../lib/executions/executions.ts';
import { serve } from '../../lib/http/serve.ts';

export const handler = serve(row, async ({ params, body, caller, recordResponse }, context) =>
  executeAgent(context, caller.organization, params.name, body, recordResponse),
);
