import { expect, it } from 'vitest';
import { processContext } from '../../../../lib/context/context.ts';
import { issueToken } from '../../../../lib/http/issue-token.ts';
import { changeSettings } from '../../../../lib/table/organizations/settings.ts';
import { versionOf } from '../../../api.ts';
import { newForEachTest } from '../../../caller.ts';
import { agentOf, createTestAgents, defaultModel } from '../test-agents.ts';

const { newAgentsApi } = await createTestAgents();
const api = newForEachTest(newAgentsApi);

const its = 'the.organizations-model';
const set = (model: string | undefined, { organization } = api) =>
  changeSettings(processContext(), organization, { defaultModel: model });
const modelOf = async (name: string, of = api) => agentOf(await of.get(name)).model;

it('a create without a model gets the default of its organization, or that of the deployment', async () => {
  const other = await newAgentsApi();
  await set(its);
  expect(await modelOf(await api.put())).toBe(its);
  expect(await modelOf(await other.put(), other)).toBe(defaultModel);
});

it('a create with a model keeps that model', async () => {
  await set(its);
  expect(await modelOf(await api.put({ model: 'some.model' }))).toBe('some.model');
});

it('a patch with null writes the default of the organization, and a patch of other fields keeps the model', async () => {
  const name = await api.put({ model: 'some.model' });
  await set(its);
  await api.update(name, { soul: 'Kind.' });
  expect(await modelOf(name)).toBe('some.model');
  const answer = await api.update(name, { model: null });
  expect([answer.status, agentOf(answer).model, versionOf(answer)]).toEqual([200, its, 3]);
});

it('a patch with null writes nothing if the fields are already cleared and the agent has the default', async () => {
  await set(its);
  const name = await api.put();
  const before = await api.dump();
  const patch = { description: null, model: null, systemPrompt: null, soul: null };
  const answer = await api.update(name, patch);
  expect([answer.status, versionOf(answer)]).toEqual([200, 1]);
  expect(await api.dump()).toEqual(before);
});

it('a default that is set or unset changes no existing agent', async () => {
  const name = await api.put();
  await set(its);
  expect([await modelOf(name), await modelOf('qa-reviewer')]).toEqual([defaultModel, defaultModel]);
  const second = await api.put({ name: 'second' });
  await set(undefined);
  expect([await modelOf(second), await modelOf(await api.put({ name: 'third' }))]).toEqual([its, defaultModel]);
});

it('a system agent of a new organization gets its default', async () => {
  const { organization } = api;
  const fresh = `${organization}-2` as typeof organization;
  await changeSettings(processContext(), fresh, { defaultModel: its });
  const token = await issueToken(processContext(), { organization: fresh, scopes: ['agents:read'] });
  const answer = await api.by(token).get('qa-reviewer');
  expect(agentOf(answer).model).toBe(its);
});
