import { getPrompt, listPrompts } from '../../lib/agents/prompts.ts';
import * as rows from '../../lib/contract/agents/prompts.ts';
import { byRoute } from '../../lib/http/by-route.ts';
import { serve } from '../../lib/http/serve.ts';

const list = serve(rows.listPrompts, async ({ params, query, caller }, context) =>
  listPrompts(context, caller.organization, params.name, query),
);

const get = serve(rows.getPrompt, async ({ params, caller }, context) =>
  getPrompt(context, caller.organization, params.name, params.hash),
);

export const handler = byRoute([rows.listPrompts, list], [rows.getPrompt, get]);
