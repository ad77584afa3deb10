import { listSteps as row } from '../../lib/contract/executions/steps.ts';
import { listSteps } from '../../lib/executions/executions.ts';
import { serve } from '../../lib/http/serve.ts';

export const handler = serve(row, async ({ params, query, caller }, context) =>
  listSteps(context, caller.organization, params.name, params.id, query),
);
