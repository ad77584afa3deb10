import { describe, expect, it } from 'vitest';
import { standardConduct } from '../../../lib/contract/agents/standard-conduct.ts';
import { errorOf } from '../../api.ts';
import { newForEachTest } from '../../caller.ts';
import { agentOf, createTestAgents, defaultModel, newAgent, sendConcurrently } from './test-agents.ts';

const { newAgentsApi } = await createTestAgents();
const api = newForEachTest(newAgentsApi);

describe('a create', () => {
  it('returns 201 with exactly id, name, displayName and createdAt', async () => {
    const answer = await api.create({ ...newAgent, description: 'Writes', soul: 'Kind.', status: 'draft' });
    expect([answer.status, Object.keys(answer.body)]).toEqual([201, ['success', 'data']]);
    expect(Object.keys(agentOf(answer))).toEqual(['id', 'name', 'displayName', 'createdAt']);
    expect(agentOf(answer)).toMatchObject({
      id: expect.stringMatching(/^ag_[0-7][0-9A-HJKMNP-TV-Z]{25}$/),
      displayName: 'Writer',
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    expect(answer.headers).not.toHaveProperty('ETag');
  });

  it('with only the required fields is active, has the default model, and is empty otherwise', async () => {
    const { id, createdAt } = agentOf(await api.create());
    expect(agentOf(await api.get('writer'))).toEqual({
      ...{ id, ...newAgent, model: defaultModel, systemPrompt: '', soul: '', capabilities: [] },
      ...{ status: 'active', ...standardConduct, isSystem: false, createdAt, updatedAt: createdAt },
    });
  });

  it('stores every field as it was sent', async () => {
    const sent = {
      name: 'constructor',
      displayName: ' Two  spaces, \u200d and 👩‍🚀 ',
      description: '',
      category: 'specialized',
      model: ' global.any/model:1 ',
      systemPrompt: ' \n\u0001\u2028 ',
      soul: ' ',
      capabilities: ['__proto__', 'a b', 'A B', 'a\u200d'],
      status: 'inactive',
    };
    expect((await api.create(sent)).status).toBe(201);
    expect(agentOf(await api.get('constructor'))).toMatchObject(sent);
  });

  it('stores the longest texts, of four-byte characters', async () => {
    const longest = {
      displayName: '😀'.repeat(200),
      description: '😀'.repeat(10_000),
      model: '😀'.repeat(256),
      systemPrompt: '😀'.repeat(50_000),
      capabilities: Array.from({ length: 50 }, (_, at) => '😀'.repeat(63) + String.fromCodePoint(0x1f600 + at)),
    };
    const name = await api.put({ name: 'x'.repeat(64), ...longest, capabilities: [] });
    const { systemPrompt: soul, capabilities } = longest;
    for (const patch of [{ systemPrompt: '', soul }, { systemPrompt: soul }, { capabilities }])
      expect((await api.update(name, patch)).status).toBe(200);
    expect(agentOf(await api.get(name))).toMatchObject({ name, ...longest, soul });
  });
});

describe('a name', () => {
  it.each(['executions', 'skills'])('%s is rejected with 422 reserved_name', async (name) => {
    const error = await api.refuses(() => api.create({ ...newAgent, name }), 422, 'reserved_name');
    expect(error.details).toMatchObject([{ path: 'name' }]);
  });

  it.each(['writer', 'qa-reviewer'])('%s of an existing agent is rejected with 409 name_taken', async (name) => {
    await api.put();
    const body = { ...newAgent, name, systemPrompt: 'Another.', soul: 'Another.' };
    const error = await api.refuses(() => api.create(body), 409, 'name_taken');
    expect(error.details).toMatchObject([{ path: 'name' }]);
  });

  it("of another organization's agent is available", async () => {
    const other = await newAgentsApi();
    await other.put({ displayName: 'Theirs', soul: 'Theirs.' });
    await api.put({ displayName: 'Ours', soul: 'Ours.' });
    expect(agentOf(await other.get('writer'))).toMatchObject({ displayName: 'Theirs', soul: 'Theirs.' });
    expect(agentOf(await api.get('writer'))).toMatchObject({ displayName: 'Ours', soul: 'Ours.' });
  });

  it('is given to one of ten concurrent creates', async () => {
    const answers = await sendConcurrently(10, (nth) => api.create({ ...newAgent, systemPrompt: `Prompt ${nth}` }));
    const [winner, ...others] = answers.toSorted((a, b) => a.status - b.status);
    expect(winner?.status).toBe(201);
    expect(others.map((answer) => errorOf(answer)?.code)).toEqual(Array(9).fill('name_taken'));
    expect(agentOf(await api.get('writer'))).toMatchObject(winner ? agentOf(winner) : {});
    const texts = Object.values(await api.dump()).filter((item) => 'text' in (item as object));
    const systemTexts = 2;
    expect(texts).toHaveLength(systemTexts + 1);
  });
});
