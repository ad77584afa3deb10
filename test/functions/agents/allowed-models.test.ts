import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { replaceAgentModel } from '../../../lib/agents/agents.ts';
import { processContext } from '../../../lib/context.ts';
import { environment } from '../../../lib/deployment/environment.ts';
import { changeSettings } from '../../../lib/table/organizations/settings.ts';
import { errorOf } from '../../api.ts';
import { type AgentsApi, agentOf, createTestAgents, newAgent } from './test-agents.ts';

const { newAgentsApi } = await createTestAgents();
const variables = { [environment.allowedModels]: 'model.a,model.b', [environment.defaultModel]: 'model.a' };
Object.assign(process.env, variables);
let api: AgentsApi;
beforeAll(async () => {
  api = await newAgentsApi();
});
afterAll(() => {
  for (const name of Object.keys(variables)) delete process.env[name];
});

const refused = (message: string) => ({
  code: 'validation_failed',
  message,
  details: [{ path: 'model', code: 'invalid_value', message: 'model must be model.a or model.b' }],
});
const notAllowed = refused('This deployment does not allow the model model.c; choose one of model.a, model.b.');

describe('where the deployment limits models', () => {
  it('a create with an allowed model, or no model, is accepted', async () => {
    expect(agentOf(await api.get(await api.put({ name: 'first', model: 'model.b' }))).model).toBe('model.b');
    expect(agentOf(await api.get(await api.put({ name: 'second' }))).model).toBe('model.a');
  });

  it('a create with another model is rejected with the allowed models, and creates nothing', async () => {
    const answer = await api.create({ ...newAgent, model: 'model.c' });
    expect([answer.status, errorOf(answer)]).toEqual([400, expect.objectContaining(notAllowed)]);
    expect((await api.get(newAgent.name)).status).toBe(404);
  });

  it('a patch to another model is rejected, and changes nothing', async () => {
    const name = await api.put({ name: 'third' });
    const answer = await api.update(name, { model: 'model.c', soul: 'Kind.' });
    expect([answer.status, errorOf(answer)]).toEqual([400, expect.objectContaining(notAllowed)]);
    expect(agentOf(await api.get(name))).toMatchObject({ model: 'model.a', soul: '' });
  });

  it('a default model of the organization that is no longer allowed is rejected', async () => {
    const { organization } = api;
    const name = await api.put({ name: 'fourth' });
    await changeSettings(processContext(), organization, { defaultModel: 'model.c' });
    const said = refused(
      'This deployment does not allow the default model model.c; send a model: choose one of model.a, model.b.',
    );
    for (const answer of [await api.create(newAgent), await api.update(name, { model: null })])
      expect([answer.status, errorOf(answer)]).toEqual([400, expect.objectContaining(said)]);
    await changeSettings(processContext(), organization, { defaultModel: undefined });
  });

  it('an agent that already has another model can be updated, and moved to an allowed model', async () => {
    const name = await api.put({ name: 'fifth' });
    const { organization } = api;
    const move = (from: string, to: string) => replaceAgentModel(processContext(), organization, name, { from, to });
    expect(await move('model.a', 'model.c')).toBe(true);
    const patched = await api.update(name, { soul: 'Kind.' });
    expect([patched.status, agentOf(patched).model]).toEqual([200, 'model.c']);
    expect(await move('model.a', 'model.b')).toBe(false);
    expect(await move('model.c', 'model.b')).toBe(true);
    const moved = await api.get(name);
    expect(agentOf(moved).model).toBe('model.b');
    expect(moved.headers.ETag).toBe('"4"');
    expect(Date.parse(agentOf(moved).updatedAt)).toBeGreaterThanOrEqual(Date.parse(agentOf(patched).updatedAt));
    expect(
      await replaceAgentModel(processContext(), organization, 'absent-agent', { from: 'model.b', to: 'model.a' }),
    ).toBe(false);
  });
});
