import { listSkills } from '../../lib/agents/agents.ts';
import { readSkills } from '../../lib/agents/skill-catalogue.ts';
import { listSkills as row } from '../../lib/contract/agents.ts';
import { serve } from '../../lib/http/serve.ts';

const catalogue = readSkills();

export const handler = serve(row, async ({ params, caller }, context) =>
  listSkills(context, caller.organization, params.name, catalogue),
);
