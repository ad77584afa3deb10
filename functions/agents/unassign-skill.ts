import { agentsApp } from '../../lib/apps/agents.ts';
import { unassignSkill } from '../../lib/contract/agents.ts';
import { serve } from '../../lib/http/serve.ts';

export const handler = serve(
  unassignSkill,
  async ({ params, caller }, { agents }) => agents.unassign(caller.organization, params.name, params.skillId),
  agentsApp,
);
