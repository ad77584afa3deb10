import { getPrompt } from '../../lib/agents/prompts.ts';
import { getPrompt as row } from '../../lib/contract/prompts.ts';
import { serve } from '../../lib/http/serve.ts';

export const handler = serve(row, async ({ params, caller }, context) =>
  getPrompt(context, caller.organization, params.name, params.hash),
);
