import { assignSkill, unassignSkill } from '../../lib/agents/agents.ts';
import { readSkills } from '../../lib/agents/skill-catalogue.ts';
import * as rows from '../../lib/contract/agents/agents.ts';
import { byRoute } from '../../lib/http/by-route.ts';
import { serve } from '../../lib/http/serve.ts';

const catalogue = readSkills();

const assign = serve(rows.assignSkill, async ({ params, body, caller, recordResponse }, context) =>
  assignSkill(context, caller.organization, params.name, body.skillId, catalogue, recordResponse, caller.scopes),
);

const unassign = serve(rows.unassignSkill, async ({ params, caller }, context) =>
  unassignSkill(context, caller.organization, params.name, params.skillId, caller.scopes),
);

export const handler = byRoute([rows.assignSkill, assign], [rows.unassignSkill, unassign]);
