import { assignSkill } from '../../lib/agents/agents.ts';
import { readSkills } from '../../lib/agents/skill-catalogue.ts';
import { assignSkill as row } from '../../lib/contract/agents.ts';
import { serve } from '../../lib/http/serve.ts';

const catalogue = readSkills();

export const handler = serve(row, async ({ params, body, caller, recordResponse }, context) =>
  assignSkill(context, caller.organization, params.name, body.skillId, catalogue, recordResponse, caller.scopes),
);
