import { readSkills } from '../../lib/agents/skill-catalogue.ts';
import { agentsApp } from '../../lib/apps/agents.ts';
import { listSkills } from '../../lib/contract/agents.ts';
import { serve } from '../../lib/http/serve.ts';

const catalogue = readSkills();

export const handler = serve(
  listSkills,
  async ({ params, caller }, { agents }) => agents.skills(caller.organization, params.name, catalogue),
  agentsApp,
);
