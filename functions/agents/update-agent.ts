import { agentsApp } from '../../lib/apps/agents.ts';
import { updateAgent } from '../../lib/contract/agents.ts';
import { serve } from '../../lib/http/serve.ts';

export const handler = serve(
  updateAgent,
  async ({ params, body, caller, ifMatch }, { agents }) =>
    agents.update(caller.organization, params.name, body, ifMatch),
  agentsApp,
);
