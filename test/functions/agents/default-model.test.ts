import { beforeEach, expect, it } from 'vitest';
import { processContext } from '../../../lib/context.ts';
import { issueToken } from '../../../lib/http/issue-token.ts';
import { changeSettings } from '../../../lib/table/settings.ts';
import { agentOf, defaultModel, newAgent, openRegistries, type Registry } from './registry.ts';

const { newRegistry } = await openRegistries();
let registry: Registry;
beforeEach(async () => {
  registry = await newRegistry();
});

const its = 'the.organizations-model';
const set = (model: string | undefined, { organization } = registry) =>
  changeSettings(processContext(), organization, { defaultModel: model });
const modelOf = async (name: string, of = registry) => agentOf(await of.get(name)).model;

it('a create without a model writes the default of the organization, of another the deployment’s', async () => {
  const other = await newRegistry();
  await set(its);
  expect(await modelOf(await registry.put())).toBe(its);
  expect(await modelOf(await other.put(), other)).toBe(defaultModel);
});

it('a create with a model keeps that, whatever the default is', async () => {
  await set(its);
  expect(await modelOf(await registry.put({ model: 'some.model' }))).toBe('some.model');
});

it('a patch with null writes the default of the organization, and of nothing else leaves the model', async () => {
  const name = await registry.put({ model: 'some.model' });
  await set(its);
  await registry.update(name, { soul: 'Kind.' });
  expect(await modelOf(name)).toBe('some.model');
  const answer = await registry.update(name, { model: null });
  expect([answer.status, agentOf(answer).model, answer.headers.ETag]).toEqual([200, its, '"3"']);
});

it('a patch with null writes nothing where the agent has the default', async () => {
  await set(its);
  const name = await registry.put();
  const before = await registry.dump();
  const answer = await registry.update(name, { model: null });
  expect([answer.status, answer.headers.ETag]).toEqual([200, '"1"']);
  expect(await registry.dump()).toEqual(before);
});

it('a default that is set or unset changes no agent that there is', async () => {
  const name = await registry.put();
  await set(its);
  expect([await modelOf(name), await modelOf('qa-reviewer')]).toEqual([defaultModel, defaultModel]);
  const second = await registry.put({ name: 'second' });
  await set(undefined);
  expect([await modelOf(second), await modelOf(await registry.put({ name: 'third' }))]).toEqual([its, defaultModel]);
});

it('a create that is sent again by its key is answered as before, whatever the default is by now', async () => {
  const sent = { headers: { 'Idempotency-Key': 'once' } };
  const first = await registry.create(newAgent, sent);
  await set(its);
  const again = await registry.create(newAgent, sent);
  expect([again.body, again.headers['Idempotency-Replayed']]).toEqual([first.body, 'true']);
  expect(await modelOf('writer')).toBe(defaultModel);
});

it('a system agent that an organization does not have yet is given its default', async () => {
  const { organization } = registry;
  const fresh = `${organization}-2` as typeof organization;
  await changeSettings(processContext(), fresh, { defaultModel: its });
  const token = await issueToken(processContext(), { organization: fresh, scopes: ['agents:read'] });
  const answer = await registry.by(token).get('qa-reviewer');
  expect(agentOf(answer).model).toBe(its);
});
