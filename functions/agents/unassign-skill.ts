import { unassignSkill } from '../../lib/agents/agents.ts';
import { unassignSkill as row } from '../../lib/contract/agents.ts';
import { serve } from '../../lib/http/serve.ts';

export const handler = serve(row, async ({ params, caller }, context) =>
  unassignSkill(context, caller.organization, params.name, params.skillId, caller.scopes),
);
