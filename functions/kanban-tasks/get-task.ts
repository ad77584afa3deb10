import { requireScopes } from '../../lib/contract/required-scopes.ts';
import { getTask as row } from '../../lib/contract/tasks/tasks.ts';
import { serve } from '../../lib/http/serve.ts';
import { getTask } from '../../lib/tasks/tasks.ts';

export const handler = serve(row, async ({ params, query, caller }, context) => {
  // The result comes from an execution, which a token for tasks alone cannot read.
  if (query.include !== undefined) requireScopes(caller.scopes, ['agents:read'], 'results of executions');
  return getTask(context, caller.organization, params.id, query.include);
});
