import { createAgent } from '../../lib/agents/agents.ts';
import { createAgent as row } from '../../lib/contract/agents/agents.ts';
import { serve } from '../../lib/http/serve.ts';

export const handler = serve(row, async ({ body, caller, recordResponse }, context) =>
  createAgent(context, caller.organization, body, recordResponse, caller.scopes),
);
