import { listPrompts } from '../../lib/agents/prompts.ts';
import { listPrompts as row } from '../../lib/contract/prompts.ts';
import { serve } from '../../lib/http/serve.ts';

export const handler = serve(row, async ({ params, query, caller }, context) =>
  listPrompts(context, caller.organization, params.name, query),
);
