import { getAgent } from '../../lib/agents/agents.ts';
import { getAgent as row } from '../../lib/contract/agents/agents.ts';
import { serve } from '../../lib/http/serve.ts';

export const handler = serve(row, async ({ params, caller }, context) =>
  getAgent(context, caller.organization, params.name),
);
