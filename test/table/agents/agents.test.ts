import { DeleteCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { getAgent, updateAgent } from '../../../lib/agents/agents.ts';
import type { Organization } from '../../../lib/contract/organization.ts';
import { keys } from '../../../lib/table/access/keys.ts';
import { Conflict, transact } from '../../../lib/table/access/transact.ts';
import { headOf, type StoredAgent, textItems } from '../../../lib/table/agents/agent-items.ts';
import {
  changeAgent,
  insertAgent,
  insertAgentSkill,
  insertMissingAgents,
  readAgent,
  readAgentHead,
  readAgentSkills,
  readAgents,
  removeAgent,
  removeAgentSkill,
} from '../../../lib/table/agents/agents.ts';
import { findUsersOfModel } from '../../../lib/table/agents/model-users.ts';
import { readPreparedAgent } from '../../../lib/table/agents/prepared-agents.ts';
import { idempotencyRecordWrites, type RecordResponse } from '../../../lib/table/idempotency.ts';
import { changeSettings } from '../../../lib/table/organizations/settings.ts';
import { meter } from '../fixtures/capacity.ts';
import { sendTransactionsTogether } from '../fixtures/concurrent-transactions.ts';
import { dumpOf } from '../fixtures/table-dump.ts';
import { watchedTable } from '../fixtures/watched-table.ts';
import { always, createTestTable, errorOf, newOrganization } from '../tasks/test-table.ts';
import { storedAgent } from './agent-seed.ts';

const context = { ...(await createTestTable()), defaultModel: 'default.model' };
const { table } = context;
const { costOf } = meter(table);
let organization: Organization;

beforeEach(() => {
  organization = newOrganization();
});

const dump = () => dumpOf(table, organization);
const record: NonNullable<RecordResponse> = (answer) => {
  const request = { key: 'k', operation: 'o', path: '/', body: {} };
  return idempotencyRecordWrites(context.app, organization, request, { data: answer });
};
const skill = { id: 'sk_a', assignedAt: '2026-01-01T00:00:00.000Z' };
const purgeDueAt = '2026-01-01T00:01:00.000Z';
const both = { systemPrompt: 'Write.', soul: 'Kind.' };

async function insert(fields: Partial<StoredAgent> = {}): Promise<StoredAgent> {
  const agent = storedAgent(fields);
  await insertAgent(context, organization, agent, undefined);
  return agent;
}

/** Returns the next version of an agent. */
const next = (agent: StoredAgent, fields: Partial<StoredAgent> = {}): StoredAgent => ({
  ...{ ...agent, version: agent.version + 1, ...fields },
});
const assign = (agent: StoredAgent, assigned = skill) =>
  insertAgentSkill(context, organization, headOf(agent), assigned);
const remove = (agent: StoredAgent) => removeAgent(context, organization, headOf(agent), purgeDueAt);

describe('an inserted agent', () => {
  it('is read with and without its texts, and keeps its name: another one throws `name_taken`', async () => {
    const agent = await insert(both);
    expect(await readAgent(context, organization, 'writer')).toEqual(agent);
    expect(await readAgentHead(context, organization, 'writer')).toEqual(headOf(agent));
    expect(await readAgents(context, organization)).toEqual([headOf(agent)]);
    const before = await dump();
    const second = storedAgent({ systemPrompt: 'Another.' });
    expect((await errorOf(insertAgent(context, organization, second, record)))?.code).toBe('name_taken');
    expect(await dump()).toEqual(before);
  });

  it('stays as it is when missing agents are inserted', async () => {
    const agent = await insert({ name: 'qa-reviewer', displayName: 'Mine' });
    await insertMissingAgents(context, organization, [
      storedAgent({ name: 'qa-reviewer', systemPrompt: 'Another.' }),
      storedAgent({ name: 'new', soul: 'New.' }),
    ]);
    expect(await readAgent(context, organization, 'qa-reviewer')).toEqual(agent);
    expect(await readAgent(context, organization, 'new')).toMatchObject({ soul: 'New.' });
  });
});

it('a change puts the new texts and keeps the old ones', async () => {
  const agent = await insert(both);
  const after = next(agent, { systemPrompt: 'Write better.', soul: 'Kind.' });
  await changeAgent(context, organization, agent, after);
  expect(await readAgent(context, organization, 'writer')).toEqual(after);
  const texts = Object.values(await dump()).flatMap((item) => (item as { text?: string }).text ?? []);
  expect(texts.sort()).toEqual(['Kind.', 'Write better.', 'Write.']);
});

describe.each<[string, (agent: StoredAgent) => Promise<unknown>]>([
  ['was changed', (agent) => changeAgent(context, organization, agent, next(agent))],
  ['got a skill', (agent) => assign(agent)],
  ['was deleted', remove],
  ['was deleted and created again', (agent) => remove(agent).then(() => insert())],
])('of an agent that %s since it was read', (_, happens) => {
  it.each<[string, (agent: StoredAgent) => Promise<unknown>]>([
    ['a change', (agent) => changeAgent(context, organization, agent, next(agent, { soul: 'Late.' }))],
    ['a deletion', remove],
  ])('%s throws `Conflict` and writes nothing', async (__, late) => {
    const agent = await insert();
    await happens(agent);
    const before = await dump();
    await expect(late(agent)).rejects.toBeInstanceOf(Conflict);
    expect(await dump()).toEqual(before);
  });
});

/** Reads the agent, and runs a function between the read of the agent and the read of its texts. */
const readWhile = (action: () => Promise<unknown>) => {
  const watched = watchedTable(table, ({ nth }) => nth === 1 && action());
  return readAgent({ ...context, table: watched.table }, organization, 'writer');
};
const deleteTexts = async (agent: StoredAgent) => {
  for (const { pk, sk } of textItems(organization, agent))
    await table.client.send(new DeleteCommand({ TableName: table.name, Key: { pk, sk } }));
};
const erase = (agent: StoredAgent) => remove(agent).then(() => deleteTexts(agent));

it('a read of an agent during a change returns one version', async () => {
  const agent = await insert(both);
  const after = next(agent, { systemPrompt: 'Other.', soul: 'Other soul.' });
  expect(await readWhile(() => changeAgent(context, organization, agent, after))).toEqual(agent);
  expect(await readAgent(context, organization, 'writer')).toEqual(after);
});

it('a read of an agent during a deletion and its purge returns no agent, or the new agent of the name', async () => {
  const agent = await insert(both);
  expect(await readWhile(() => erase(agent))).toBeUndefined();
  const second = await insert(both);
  const third = storedAgent({ soul: 'New.' });
  const replace = () => erase(second).then(() => insertAgent(context, organization, third, undefined));
  expect(await readWhile(replace)).toEqual(third);
});

it('a read of an agent with a missing text is an error', async () => {
  await deleteTexts(await insert(both));
  await expect(readAgent(context, organization, 'writer')).rejects.toThrow('is missing');
});

it('a deletion deletes the item of the agent and writes its purge', async () => {
  const agent = await insert(both);
  await assign(agent);
  const { [`O#${organization}#A writer`]: _, ...rest } = await dump();
  await removeAgent(context, organization, { ...headOf(agent), version: 2 }, purgeDueAt);
  const purge = expect.objectContaining({ kind: 'purge', dueAt: purgeDueAt });
  expect(await dump()).toEqual({ ...rest, [`O#${organization}#PU ${agent.id.slice(3)}`]: purge });
});

it('the assignment of a skill to an agent that has changed or was deleted throws `Conflict` and writes nothing', async () => {
  const agent = await insert();
  await changeAgent(context, organization, agent, next(agent, { capabilities: ['tasks.write'] }));
  await expect(assign(agent)).rejects.toBeInstanceOf(Conflict);
  await remove(next(agent));
  const namesake = await insert();
  const before = await dump();
  await expect(assign(agent)).rejects.toBeInstanceOf(Conflict);
  expect(await dump()).toEqual(before);
  expect(await readAgentSkills(context, organization, namesake.id)).toEqual([]);
});

it('the assignment of a skill by two concurrent requests is made once, and increments the version once', async () => {
  const agent = await insert();
  sendTransactionsTogether(table, 2);
  const times = ['2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z'];
  const made = await Promise.allSettled(times.map((assignedAt) => assign(agent, { ...skill, assignedAt })));
  expect(made.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  expect(await readAgentSkills(context, organization, agent.id)).toMatchObject([{ id: skill.id }]);
  expect((await readAgentHead(context, organization, 'writer'))?.version).toBe(2);
});

it('the assignment of a skill that the agent does not have cannot be removed: `not_found`', async () => {
  const agent = await insert();
  const before = await dump();
  const refused = await errorOf(removeAgentSkill(context, organization, headOf(agent), skill.id, skill.assignedAt));
  expect(refused?.code).toBe('not_found');
  expect(await dump()).toEqual(before);
});

describe('readPreparedAgent', () => {
  const prepared = () => readPreparedAgent(context, organization, 'writer');

  it('sends four requests for a new version, one for a cached version, and none if the agent is known too', async () => {
    await assign(await insert(both));
    const first = await costOf(prepared);
    expect([first.requests, first.rounds]).toEqual([4, 3]);
    expect(await costOf(prepared)).toMatchObject({ requests: 1, rcu: 1 });
    const head = await readAgentHead(context, organization, 'writer');
    expect(await costOf(() => readPreparedAgent(context, organization, 'writer', head))).toMatchObject({ requests: 0 });
  });

  it('reads an agent again that has changed since the caller read it', async () => {
    const agent = await insert(both);
    const old = await readAgentHead(context, organization, 'writer');
    await assign(agent);
    const expected = { agent: { ...agent, version: 2 }, skills: [skill] };
    expect(await readPreparedAgent(context, organization, 'writer', old)).toEqual(expected);
  });

  it('returns no cached version of a deleted agent with the same name', async () => {
    const agent = await insert(both);
    await prepared();
    await remove(agent);
    expect(await prepared()).toBeUndefined();
    const namesake = await insert({ soul: 'Other.' });
    expect(await prepared()).toEqual({ agent: namesake, skills: [] });
  });
});

it('an agent of a version without models has the default model and can be changed', async () => {
  const { model, capabilities, createdAt, ...old } = headOf(storedAgent({ name: 'old', description: '' }));
  const Item = { pk: `O#${organization}#A`, sk: 'old', kind: 'agent', ...old };
  await table.client.send(new PutCommand({ TableName: table.name, Item }));
  const { data } = await getAgent(context, organization, 'old');
  expect(data).toMatchObject({ model: 'default.model', systemPrompt: '', soul: '', capabilities: [] });
  expect((await updateAgent(context, organization, 'old', { model: null, soul: '' }, always, [])).version).toBe(1);
  const changed = await updateAgent(context, organization, 'old', { soul: 'New.' }, always, []);
  expect(changed).toMatchObject({ version: 2, data: { model: 'default.model', soul: 'New.' } });
  expect(await getAgent(context, organization, 'old')).toEqual(changed);
});

const [one, other] = ['one', 'other'] as Organization[] as [Organization, Organization];
const putOf = (organization: Organization, name: string, model?: string) => ({
  Put: { Item: { ...keys.agent(organization, name), kind: 'agent', ...(model && { model }) } },
});
await transact(table, [
  ...[putOf(one, 'b', 'old'), putOf(one, 'a', 'old'), putOf(one, 'c', 'new'), putOf(one, 'ancient')],
  putOf(other, 'a', 'old'),
]);
await changeSettings({ table }, one, { defaultModel: 'old' });
await changeSettings({ table }, other, { defaultModel: 'new' });

const find = async (model: string, organization?: Organization) => {
  const users = await findUsersOfModel(table, { model, defaultModel: 'of the deployment', organization });
  const ours = users.filter(({ organization: of }) => [one, other].includes(of));
  return ours.map(({ organization: of, agent }) => [of, agent]);
};

it('agents and organizations that use a model are sorted by organization and name', async () => {
  expect(await find('old')).toEqual([
    ['one', undefined],
    ['one', 'a'],
    ['one', 'b'],
    ['other', 'a'],
  ]);
  expect(await find('old', other)).toEqual([['other', 'a']]);
  expect(await find('new')).toEqual([
    ['one', 'c'],
    ['other', undefined],
  ]);
  // An agent of a version without models uses the default model of the deployment.
  expect(await find('of the deployment')).toEqual([['one', 'ancient']]);
  expect(await find('of the deployment', one)).toEqual([['one', 'ancient']]);
});
