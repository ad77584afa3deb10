import { deleteAgent } from '../../lib/agents/agents.ts';
import { deleteAgent as row } from '../../lib/contract/agents/agents.ts';
import { serve } from '../../lib/http/serve.ts';

export const handler = serve(row, async ({ params, caller, ifMatch }, context) =>
  deleteAgent(context, caller.organization, params.name, ifMatch),
);
