import { executionsApp } from '../../lib/apps/executions.ts';
import { delegateTask } from '../../lib/contract/executions.ts';
import { serve } from '../../lib/http/serve.ts';

export const handler = serve(
  delegateTask,
  async ({ params, body, caller, recordResponse }, { delegations }) =>
    delegations.delegate(caller.organization, params.name, body, recordResponse),
  executionsApp,
);
