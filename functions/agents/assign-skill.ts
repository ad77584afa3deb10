import { readSkills } from '../../lib/agents/skill-catalogue.ts';
import { agentsApp } from '../../lib/apps/agents.ts';
import { assignSkill } from '../../lib/contract/agents.ts';
import { serve } from '../../lib/http/serve.ts';

const catalogue = readSkills();

export const handler = serve(
  assignSkill,
  async ({ params, body, caller, once }, { agents }) =>
    agents.assign(caller.organization, params.name, body.skillId, catalogue, once),
  agentsApp,
);
