import { listSkills } from '../../lib/agents/agents.ts';
import { readSkills } from '../../lib/agents/skill-catalogue.ts';
import { listSkills as ofAgentRow } from '../../lib/contract/agents/agents.ts';
import { listSkillCatalogue as catalogueRow } from '../../lib/contract/agents/skills.ts';
import { byRoute } from '../../lib/http/by-route.ts';
import { serve } from '../../lib/http/serve.ts';

const catalogue = readSkills();

const listOfAgent = serve(ofAgentRow, async ({ params, caller }, context) =>
  listSkills(context, caller.organization, params.name, catalogue),
);

const listAll = serve(catalogueRow, async () => catalogue);

export const handler = byRoute([ofAgentRow, listOfAgent], [catalogueRow, listAll]);
