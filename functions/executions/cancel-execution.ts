import { cancelExecution as row } from '../../lib/contract/executions/execution-control.ts';
import { cancelExecution } from '../../lib/executions/execution-control.ts';
import { serve } from '../../lib/http/serve.ts';

export const handler = serve(row, async ({ params, body, caller, recordResponse }, context) =>
  cancelExecution(context, caller.organization, params.name, params.id, body, recordResponse),
);
