import { agentsApp } from '../../lib/apps/agents.ts';
import { getAgent } from '../../lib/contract/agents.ts';
import { serve } from '../../lib/http/serve.ts';

export const handler = serve(
  getAgent,
  async ({ params, caller }, { agents }) => agents.get(caller.organization, params.name),
  agentsApp,
);
