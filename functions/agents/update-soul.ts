import { agentsApp } from '../../lib/apps/agents.ts';
import { updateSoul } from '../../lib/contract/agents.ts';
import { serve } from '../../lib/http/serve.ts';

export const handler = serve(
  updateSoul,
  async ({ params, body, caller, ifMatch }, { agents }) =>
    agents.update(caller.organization, params.name, body, ifMatch),
  agentsApp,
);
