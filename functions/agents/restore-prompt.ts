import { restorePrompt } from '../../lib/agents/prompts.ts';
import { restorePrompt as row } from '../../lib/contract/agents/prompts.ts';
import { serve } from '../../lib/http/serve.ts';

export const handler = serve(row, async ({ params, caller, ifMatch, recordResponse }, context) =>
  restorePrompt(context, caller.organization, params.name, params.hash, ifMatch, recordResponse, caller.scopes),
);
