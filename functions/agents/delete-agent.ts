import { agentsApp } from '../../lib/apps/agents.ts';
import { deleteAgent } from '../../lib/contract/agents.ts';
import { serve } from '../../lib/http/serve.ts';

export const handler = serve(
  deleteAgent,
  async ({ params, caller, ifMatch }, { agents }) => agents.delete(caller.organization, params.name, ifMatch),
  agentsApp,
);
