import { delegateTask as row } from '../../lib/contract/executions/executions.ts';
import { delegateTask } from '../../lib/executions/delegations.ts';
import { serve } from '../../lib/http/serve.ts';

export const handler = serve(row, async ({ params, body, caller, recordResponse }, context) =>
  delegateTask(context, caller.organization, params.name, body, recordResponse),
);
