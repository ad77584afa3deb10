import { beforeEach, expect, it } from 'vitest';
import { processContext } from '../../../lib/context.ts';
import { issueToken } from '../../../lib/http/issue-token.ts';
import { changeSettings } from '../../../lib/table/organizations/settings.ts';
import { type AgentsApi, agentOf, createTestAgents, defaultModel, newAgent } from './test-agents.ts';

const { newAgentsApi } = await createTestAgents();
let api: AgentsApi;
beforeEach(async () => {
  api = await newAgentsApi();
});

const its = 'the.organizations-model';
const set = (model: string | undefined, { organization } = api) =>
  changeSettings(processContext(), organization, { defaultModel: model });
const modelOf = async (name: string, of = api) => agentOf(await of.get(name)).model;

it('a create without a model writes the default of the organization, of another the deployment’s', async () => {
  const other = await newAgentsApi();
  await set(its);
  expect(await modelOf(await api.put())).toBe(its);
  expect(await modelOf(await other.put(), other)).toBe(defaultModel);
});

it('a create with a model keeps that, whatever the default is', async () => {
  await set(its);
  expect(await modelOf(await api.put({ model: 'some.model' }))).toBe('some.model');
});

it('a patch with null writes the default of the organization, and of nothing else leaves the model', async () => {
  const name = await api.put({ model: 'some.model' });
  await set(its);
  await api.update(name, { soul: 'Kind.' });
  expect(await modelOf(name)).toBe('some.model');
  const answer = await api.update(name, { model: null });
  expect([answer.status, agentOf(answer).model, answer.headers.ETag]).toEqual([200, its, '"3"']);
});

it('a patch with null writes nothing where the agent has the default', async () => {
  await set(its);
  const name = await api.put();
  const before = await api.dump();
  const answer = await api.update(name, { model: null });
  expect([answer.status, answer.headers.ETag]).toEqual([200, '"1"']);
  expect(await api.dump()).toEqual(before);
});

it('a default that is set or unset changes no agent that there is', async () => {
  const name = await api.put();
  await set(its);
  expect([await modelOf(name), await modelOf('qa-reviewer')]).toEqual([defaultModel, defaultModel]);
  const second = await api.put({ name: 'second' });
  await set(undefined);
  expect([await modelOf(second), await modelOf(await api.put({ name: 'third' }))]).toEqual([its, defaultModel]);
});

it('a create that is sent again by its key is answered as before, whatever the default is by now', async () => {
  const sent = { headers: { 'Idempotency-Key': 'once' } };
  const first = await api.create(newAgent, sent);
  await set(its);
  const again = await api.create(newAgent, sent);
  expect([again.body, again.headers['Idempotency-Replayed']]).toEqual([first.body, 'true']);
  expect(await modelOf('writer')).toBe(defaultModel);
});

it('a system agent that an organization does not have yet is given its default', async () => {
  const { organization } = api;
  const fresh = `${organization}-2` as typeof organization;
  await changeSettings(processContext(), fresh, { defaultModel: its });
  const token = await issueToken(processContext(), { organization: fresh, scopes: ['agents:read'] });
  const answer = await api.by(token).get('qa-reviewer');
  expect(agentOf(answer).model).toBe(its);
});
