import * as v from 'valibot';
import { type ApiReference, endpoint } from './endpoint.ts';
import * as examples from './examples.ts';
import { described, matching } from './shapes.ts';

const name = '[a-z0-9]+(-[a-z0-9]+)*';

/** A skill's id: `sk_` and the name of its folder. */
export const SkillId = v.pipe(
  matching(`sk_${name}`, 'sk_ and the name of a skill, as GET /api/agents/skills lists them'),
  v.maxLength(67, 'must have at most 67 characters'),
  v.description('Id of a skill of the catalogue.'),
  v.examples(['sk_code-review']),
);

/** A skill of the catalogue. */
export const Skill = v.object({
  id: SkillId,
  name: v.string(),
  description: described(v.string(), 'What an agent that has it can do, and when it does.'),
});
export type Skill = v.InferOutput<typeof Skill>;

export const exampleSkill = {
  id: examples.skillId,
  name: 'code-review',
  description: 'Reviews a change for bugs, unclear names and missing tests, and says what to do about each.',
} as const;

/** The skills that can be assigned. */
export const listSkillCatalogue = endpoint({
  method: 'GET',
  path: '/api/agents/skills',
  scope: 'agents:read',
  summary: 'List skills that can be assigned',
  status: 200,
  data: v.array(Skill),
});

export const listSkillCatalogueReference = (): ApiReference<typeof listSkillCatalogue> => ({
  description: 'The skills of this deployment. Every organization can assign them to its agents.',
  data: [exampleSkill],
});
