import { rerunExecution as row } from '../../lib/contract/executions/execution-control.ts';
import { rerunExecution } from '../../lib/executions/execution-control.ts';
import { serve } from '../../lib/http/serve.ts';

export const handler = serve(row, async ({ params, caller, recordResponse }, context) =>
  rerunExecution(context, caller.organization, params.name, params.id, recordResponse),
);
