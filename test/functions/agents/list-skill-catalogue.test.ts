import { beforeAll, describe, expect, it } from 'vitest';
import { handler as listSkillCatalogue } from '../../../functions/agents/list-skill-catalogue.ts';
import { readSkills } from '../../../lib/agents/skill-catalogue.ts';
import { processContext } from '../../../lib/context.ts';
import type { Scope } from '../../../lib/contract/endpoint.ts';
import type { Skill } from '../../../lib/contract/skills.ts';
import { dataOf, errorOf } from '../../api.ts';
import { call, newCaller, type Sent } from '../../service.ts';
import { createTestAgents } from './test-agents.ts';

await createTestAgents();

const tokenFor = async (...scopes: Scope[]) => (await newCaller(processContext(), scopes)).token;
const list = (sent: Sent) => call(listSkillCatalogue, { path: '/api/agents/skills', ...sent });
let token: string;
beforeAll(async () => {
  token = await tokenFor('agents:read');
});

describe('the catalogue', () => {
  it('is returned without pages, with exactly id, name and description of each skill', async () => {
    const answer = await list({ token });
    expect(answer.status).toBe(200);
    expect(Object.keys(answer.body)).toEqual(['success', 'data']);
    const skills = dataOf<Skill[]>(answer);
    for (const skill of skills) expect(Object.keys(skill)).toEqual(['id', 'name', 'description']);
    expect(skills).toEqual(readSkills().map(({ id, name, description }) => ({ id, name, description })));
  });

  it.each(['limit=1', 'offset=0', 'search=code'])('rejects the query %s with 400', async (query) => {
    const answer = await list({ token, query });
    expect([answer.status, errorOf(answer).code]).toEqual([400, 'validation_failed']);
    expect(errorOf(answer).details).toMatchObject([{ code: 'unknown_field' }]);
  });

  it('returns 401 without a token and 403 without agents:read', async () => {
    expect((await list({ token: '' })).status).toBe(401);
    const other = await tokenFor('agents:write', 'agents:execute', 'tasks:read', 'webhooks:read');
    const refused = await list({ token: other });
    expect([refused.status, errorOf(refused).code]).toEqual([403, 'insufficient_scope']);
  });
});
