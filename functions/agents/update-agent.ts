import { updateAgent } from '../../lib/agents/agents.ts';
import { updateAgent as row } from '../../lib/contract/agents/agents.ts';
import { serve } from '../../lib/http/serve.ts';

export const handler = serve(row, async ({ params, body, caller, ifMatch }, context) =>
  updateAgent(context, caller.organization, params.name, body, ifMatch, caller.scopes),
);
