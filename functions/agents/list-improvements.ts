import { listImprovements as row } from '../../lib/contract/agents/improvements.ts';
import { serve } from '../../lib/http/serve.ts';
import { listImprovements } from '../../lib/improvements/improvement-list.ts';

export const handler = serve(row, async ({ params, query, caller }, context) =>
  listImprovements(context, caller.organization, params.name, query),
);
