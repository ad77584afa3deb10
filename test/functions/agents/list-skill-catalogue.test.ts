import { expect, it } from 'vitest';
import { readSkills } from '../../../lib/agents/skill-catalogue.ts';
import type { Skill } from '../../../lib/contract/agents/skills.ts';
import { dataOf } from '../../api.ts';
import { createTestAgents } from './test-agents.ts';

const { newAgentsApi } = await createTestAgents();

it('the catalogue is returned without pages, with exactly id, name and description of each skill', async () => {
  const answer = await (await newAgentsApi()).listSkillCatalogue();
  expect([answer.status, Object.keys(answer.body)]).toEqual([200, ['success', 'data']]);
  const skills = dataOf<Skill[]>(answer);
  for (const skill of skills) expect(Object.keys(skill)).toEqual(['id', 'name', 'description']);
  expect(skills).toEqual(readSkills().map(({ id, name, description }) => ({ id, name, description })));
});
