import { beforeAll, describe, expect, it } from 'vitest';
import { replaceAgentModel } from '../../../../lib/agents/agents.ts';
import { processContext } from '../../../../lib/context/context.ts';
import { environment } from '../../../../lib/names/environment.ts';
import { changeSettings } from '../../../../lib/table/organizations/settings.ts';
import { versionOf } from '../../../api.ts';
import { type AgentsApi, agentOf, createTestAgents, newAgent } from '../test-agents.ts';

const { newAgentsApi } = await createTestAgents({
  [environment.allowedModels]: 'model.a,model.b',
  [environment.defaultModel]: 'model.a',
});
let api: AgentsApi;
beforeAll(async () => {
  api = await newAgentsApi();
});

const errorWith = (message: string) =>
  expect.objectContaining({
    code: 'validation_failed',
    message,
    details: [{ path: 'model', code: 'invalid_value', message: 'model must be model.a or model.b' }],
  });
const notAllowed = errorWith('This deployment does not allow the model model.c; choose one of model.a, model.b.');

describe('a deployment that limits models', () => {
  it('accepts a create with an allowed model, or no model', async () => {
    expect(agentOf(await api.get(await api.put({ name: 'first', model: 'model.b' }))).model).toBe('model.b');
    expect(agentOf(await api.get(await api.put({ name: 'second' }))).model).toBe('model.a');
  });

  it('rejects a create and a patch with another model, with the allowed models, and writes nothing', async () => {
    const name = await api.put({ name: 'third' });
    for (const send of [
      () => api.create({ ...newAgent, model: 'model.c' }),
      () => api.update(name, { model: 'model.c', soul: 'Kind.' }),
    ])
      expect(await api.refuses(send, 400, 'validation_failed')).toEqual(notAllowed);
  });

  it('rejects a default model of the organization that is no longer allowed', async () => {
    const { organization } = api;
    const name = await api.put({ name: 'fourth' });
    await changeSettings(processContext(), organization, { defaultModel: 'model.c' });
    const message =
      'This deployment does not allow the default model model.c; send a model: choose one of model.a, model.b.';
    for (const send of [() => api.create(newAgent), () => api.update(name, { model: null })])
      expect(await api.refuses(send, 400, 'validation_failed')).toEqual(errorWith(message));
    await changeSettings(processContext(), organization, { defaultModel: undefined });
  });

  it('accepts an update of an agent that already has another model, and moves it to an allowed model', async () => {
    const name = await api.put({ name: 'fifth' });
    const move = (from: string, to: string, of = name) =>
      replaceAgentModel(processContext(), api.organization, of, { from, to });
    expect(await move('model.a', 'model.c')).toBe(true);
    const patched = await api.update(name, { soul: 'Kind.' });
    expect([patched.status, agentOf(patched).model]).toEqual([200, 'model.c']);
    expect(await move('model.a', 'model.b')).toBe(false);
    expect(await move('model.c', 'model.b')).toBe(true);
    const moved = await api.get(name);
    expect([agentOf(moved).model, versionOf(moved)]).toEqual(['model.b', 4]);
    expect(Date.parse(agentOf(moved).updatedAt)).toBeGreaterThanOrEqual(Date.parse(agentOf(patched).updatedAt));
    expect(await move('model.b', 'model.a', 'absent-agent')).toBe(false);
  });
});
