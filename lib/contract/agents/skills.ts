import * as v from 'valibot';
import { type ApiReference, endpoint } from '../endpoint.ts';
import * as examples from '../examples.ts';
import { described, matching } from '../shapes.ts';

const name = '[a-z0-9]+(-[a-z0-9]+)*';

/** A skill's id: `sk_` and the name of its folder. */
export const SkillId = v.pipe(
  matching(`sk_${name}`, 'the id of a skill that GET /api/agents/skills lists, such as sk_code-review'),
  v.maxLength(67, 'must have at most 67 characters'),
  v.description('Id of a skill in the catalogue.'),
  v.examples(['sk_code-review']),
);

/** A skill of the catalogue. */
export const Skill = v.object({
  id: SkillId,
  name: v.string(),
  description: described(v.string(), 'What an agent with this skill can do, and when it uses the skill.'),
});
export type Skill = v.InferOutput<typeof Skill>;

export const exampleSkill = {
  id: examples.skillId,
  name: 'code-review',
  description: 'Reviews a change for bugs, unclear names and missing tests, and says what to do about each.',
} as const;

export const listSkillCatalogue = endpoint({
  method: 'GET',
  path: '/api/agents/skills',
  scope: 'agents:read',
  summary: 'List available skills',
  status: 200,
  data: v.array(Skill),
  servedBy: 'listSkills',
});

export const listSkillCatalogueReference = (): ApiReference<typeof listSkillCatalogue> => ({
  description:
    'Returns the skill catalogue of this deployment. Every organization can assign these skills to its agents.',
  data: [exampleSkill],
});
