import { agentsApp } from '../../lib/apps/agents.ts';
import { createAgent } from '../../lib/contract/agents.ts';
import { serve } from '../../lib/http/serve.ts';

export const handler = serve(
  createAgent,
  async ({ body, caller, once }, { agents }) => agents.create(caller.organization, body, once),
  agentsApp,
);
