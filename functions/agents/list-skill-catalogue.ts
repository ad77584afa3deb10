import { readSkills } from '../../lib/agents/skill-catalogue.ts';
import { listSkillCatalogue } from '../../lib/contract/skills.ts';
import { serve } from '../../lib/http/serve.ts';

const catalogue = readSkills();

export const handler = serve(listSkillCatalogue, async () => catalogue);
