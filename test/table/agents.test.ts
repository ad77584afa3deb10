import { DeleteCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  assignSkill,
  createAgent,
  deleteAgent,
  getAgent,
  listAgents,
  listSkills,
  unassignSkill,
  updateAgent,
} from '../../lib/agents/agents.ts';
import type { Organization } from '../../lib/contract/organization.ts';
import { headOf, type StoredAgent, textItems } from '../../lib/table/agent-items.ts';
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
} from '../../lib/table/agents.ts';
import type { RecordResponse } from '../../lib/table/idempotency.ts';
import { idempotencyRecordWrite } from '../../lib/table/idempotency.ts';
import { readPreparedAgent } from '../../lib/table/prepared-agents.ts';
import { changeSettings } from '../../lib/table/settings.ts';
import { AlreadyDone, Conflict } from '../../lib/table/transact.ts';
import { dumpOf } from '../table-dump.ts';
import { seedAgents, storedAgent } from './agent-seed.ts';
import { always, errorOf, openBoard } from './board.ts';
import { type Cost, meter } from './capacity.ts';
import { letTransactionsMeet } from './meeting.ts';

const board = await openBoard();
const { table } = board;
const { costOf, transactionsOf } = meter(table);
const context = { ...board, defaultModel: 'default.model' };
let organization: Organization;
let organizations = 0;

beforeEach(() => {
  organization = `${board.organization}-${++organizations}` as Organization;
});

const dump = () => dumpOf(table, organization);
const record: NonNullable<RecordResponse> = (answer) => {
  const request = { key: 'k', operation: 'o', path: '/', body: {} };
  return idempotencyRecordWrite(board.app, organization, request, answer);
};
const skill = { id: 'sk_a', assignedAt: '2026-01-01T00:00:00.000Z' };
const purgeDueAt = '2026-01-01T00:01:00.000Z';
const both = { systemPrompt: 'Write.', soul: 'Kind.' };

async function insert(fields: Partial<StoredAgent> = {}): Promise<StoredAgent> {
  const agent = storedAgent(fields);
  await insertAgent(context, organization, agent, undefined);
  return agent;
}

/** The agent after the next change of it. */
const next = (agent: StoredAgent, fields: Partial<StoredAgent> = {}): StoredAgent => ({
  ...agent,
  version: agent.version + 1,
  ...fields,
});

describe('an agent in the table', () => {
  it('is read as it was put, whole, without its texts, and in the list', async () => {
    const agent = await insert(both);
    expect(await readAgent(context, organization, 'writer')).toEqual(agent);
    expect(await readAgentHead(context, organization, 'writer')).toEqual(headOf(agent));
    expect(await readAgents(context, organization)).toEqual([headOf(agent)]);
  });

  it('is not read by another organization', async () => {
    await insert(both);
    const other = `${organization}x` as Organization;
    expect(await readAgent(context, other, 'writer')).toBeUndefined();
    expect(await readAgents(context, other)).toEqual([]);
  });

  it('is put once: a second of its name is refused and leaves no text behind', async () => {
    await insert();
    const before = await dump();
    const second = storedAgent({ systemPrompt: 'Another.' });
    expect((await errorOf(insertAgent(context, organization, second, record)))?.code).toBe('name_taken');
    expect(await dump()).toEqual(before);
  });

  it('is put once by twins of one request, and the second is told that it is done', async () => {
    await insertAgent(context, organization, storedAgent(), record);
    const twin = insertAgent(context, organization, storedAgent(), record);
    await expect(twin).rejects.toBeInstanceOf(AlreadyDone);
  });

  it('that was provisioned is left as it is', async () => {
    const agent = await insert({ name: 'qa-reviewer', displayName: 'Mine' });
    await insertMissingAgents(context, organization, [
      storedAgent({ name: 'qa-reviewer', systemPrompt: 'Another.' }),
      storedAgent({ name: 'new', soul: 'New.' }),
    ]);
    expect(await readAgent(context, organization, 'qa-reviewer')).toEqual(agent);
    expect(await readAgent(context, organization, 'new')).toMatchObject({ soul: 'New.' });
  });
});

describe('a change', () => {
  it('puts the new texts and keeps the old ones', async () => {
    const agent = await insert(both);
    const after = next(agent, { systemPrompt: 'Write better.', soul: 'Kind.' });
    await changeAgent(context, organization, agent, after);
    expect(await readAgent(context, organization, 'writer')).toEqual(after);
    const texts = Object.values(await dump()).flatMap((item) => (item as { text?: string }).text ?? []);
    expect(texts.sort()).toEqual(['Kind.', 'Write better.', 'Write.']);
  });

  it('of what is no longer as it was read is stale and writes nothing', async () => {
    const agent = await insert();
    await changeAgent(context, organization, agent, next(agent));
    const before = await dump();
    const late = changeAgent(context, organization, agent, next(agent, { soul: 'Late.' }));
    await expect(late).rejects.toBeInstanceOf(Conflict);
    expect(await dump()).toEqual(before);
  });

  it.each([
    ['is gone', false],
    ['is another of the same name and version', true],
  ])('of what %s is stale and writes nothing', async (_, again) => {
    const agent = await insert();
    await removeAgent(context, organization, headOf(agent), purgeDueAt);
    if (again) await insert();
    const before = await dump();
    const late = changeAgent(context, organization, agent, next(agent, { soul: 'Late.' }));
    await expect(late).rejects.toBeInstanceOf(Conflict);
    expect(await dump()).toEqual(before);
  });

  it('of what has got a skill meanwhile is stale', async () => {
    const agent = await insert();
    await insertAgentSkill(context, organization, headOf(agent), skill, undefined);
    await expect(changeAgent(context, organization, agent, next(agent))).rejects.toBeInstanceOf(Conflict);
  });

  it('decided without knowing of nine others is made after them all', async () => {
    const agent = await insert();
    letTransactionsMeet(table, 10);
    const souls = Array.from({ length: 10 }, (_, nth) => `Soul ${nth}`);
    await Promise.all(souls.map((soul) => updateAgent(context, organization, 'writer', { soul }, always)));
    const after = await readAgent(context, organization, 'writer');
    expect(after?.version).toBe(agent.version + 10);
    expect(souls).toContain(after?.soul);
  });
});

describe('a read of an agent', () => {
  /** Does something between the read of the agent and the read of its texts. */
  function meanwhile(action: () => Promise<unknown>): void {
    let armed = true;
    table.client.middlewareStack.add(
      (proceed, context) => async (args) => {
        if (armed && context.commandName === 'BatchGetItemCommand') {
          armed = false;
          await action();
        }
        return proceed(args);
      },
      { step: 'initialize', name: 'meanwhile', override: true },
    );
  }

  /** Deletes an agent, and what its purge would take. */
  async function erase(agent: StoredAgent): Promise<void> {
    await removeAgent(context, organization, headOf(agent), purgeDueAt);
    for (const { pk, sk } of textItems(organization, agent))
      await table.client.send(new DeleteCommand({ TableName: table.name, Key: { pk, sk } }));
  }

  it('that is changed meanwhile is of one version', async () => {
    const agent = await insert(both);
    const after = next(agent, { systemPrompt: 'Other.', soul: 'Other soul.' });
    meanwhile(() => changeAgent(context, organization, agent, after));
    expect(await readAgent(context, organization, 'writer')).toEqual(agent);
    expect(await readAgent(context, organization, 'writer')).toEqual(after);
  });

  it('that is deleted and purged meanwhile finds none', async () => {
    const agent = await insert(both);
    meanwhile(() => erase(agent));
    expect(await readAgent(context, organization, 'writer')).toBeUndefined();
  });

  it('that is deleted, purged and created again meanwhile finds the new one', async () => {
    const agent = await insert(both);
    const again = storedAgent({ soul: 'New.' });
    meanwhile(() => erase(agent).then(() => insertAgent(context, organization, again, undefined)));
    expect(await readAgent(context, organization, 'writer')).toEqual(again);
  });

  it('whose text is missing though nothing has changed is an error', async () => {
    const agent = await insert(both);
    for (const { pk, sk } of textItems(organization, agent))
      await table.client.send(new DeleteCommand({ TableName: table.name, Key: { pk, sk } }));
    await expect(readAgent(context, organization, 'writer')).rejects.toThrow('is missing');
  });
});

describe('a deletion', () => {
  it('takes the name, leaves a purge that is due, and nothing more is changed', async () => {
    const agent = await insert(both);
    await insertAgentSkill(context, organization, headOf(agent), skill, undefined);
    const before = await dump();
    await removeAgent(context, organization, { ...headOf(agent), version: 2 }, purgeDueAt);
    const after = await dump();
    const added = Object.keys(after).filter((key) => !(key in before));
    const gone = Object.keys(before).filter((key) => !(key in after));
    expect(gone).toEqual([`O#${organization}#A writer`]);
    expect(added).toEqual([`O#${organization}#PU ${agent.id.slice(3)}`]);
    expect(after[added[0] ?? '']).toMatchObject({ kind: 'purge', dueAt: purgeDueAt });
  });

  it.each([
    ['changed', (agent: StoredAgent) => changeAgent(context, organization, agent, next(agent))],
    ['gone', (agent: StoredAgent) => removeAgent(context, organization, headOf(agent), purgeDueAt)],
    [
      'another of its name',
      (agent: StoredAgent) => removeAgent(context, organization, headOf(agent), purgeDueAt).then(() => insert()),
    ],
  ])('of what is %s by now is stale and leaves no purge', async (_, change) => {
    const agent = await insert();
    await change(agent);
    const before = await dump();
    await expect(removeAgent(context, organization, headOf(agent), purgeDueAt)).rejects.toBeInstanceOf(Conflict);
    expect(await dump()).toEqual(before);
  });
});

describe('the assignment of a skill', () => {
  it('to an agent that is deleted meanwhile is refused and leaves nothing behind', async () => {
    const agent = await insert();
    await removeAgent(context, organization, headOf(agent), purgeDueAt);
    const namesake = await insert();
    const before = await dump();
    const refused = await errorOf(insertAgentSkill(context, organization, headOf(agent), skill, record));
    expect(refused?.code).toBe('not_found');
    expect(await dump()).toEqual(before);
    expect(await readAgentSkills(context, organization, namesake.id)).toEqual([]);
  });

  it('by two who do not know of each other is one: the first one’s time stays, and one version is made', async () => {
    const agent = await insert();
    letTransactionsMeet(table, 2);
    const times = ['2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z'];
    await Promise.all(
      times.map((assignedAt) =>
        insertAgentSkill(context, organization, headOf(agent), { ...skill, assignedAt }, undefined),
      ),
    );
    expect(await readAgentSkills(context, organization, agent.id)).toMatchObject([{ id: skill.id }]);
    expect((await readAgentHead(context, organization, 'writer'))?.version).toBe(2);
  });

  it('takes it away only from who has it, and leaves others’ alone', async () => {
    const [one, other] = [await insert(), await insert({ name: 'other' })];
    await insertAgentSkill(context, organization, headOf(other), skill, undefined);
    const before = await dump();
    for (const agent of [one, storedAgent({ name: 'nobody' })])
      expect((await errorOf(removeAgentSkill(context, organization, headOf(agent), skill.id)))?.code).toBe('not_found');
    expect(await dump()).toEqual(before);
  });

  it('is of an agent of the organization only', async () => {
    const agent = await insert();
    await insertAgentSkill(context, organization, headOf(agent), skill, undefined);
    expect(await readAgentSkills(context, `${organization}x` as Organization, agent.id)).toEqual([]);
    expect(await readAgentSkills(context, organization, agent.id)).toEqual([skill]);
  });
});

describe('one transaction is', () => {
  it('a create with two texts under an Idempotency-Key: the agent, its texts, which prompt it has, the answer', async () => {
    const put = () => insertAgent(context, organization, storedAgent(both), record);
    expect(await transactionsOf(put)).toEqual([5]);
  });

  it('a change of two texts: the agent, its texts, which prompt it has', async () => {
    const agent = await insert(both);
    const after = next(agent, { systemPrompt: 'a', soul: 'b' });
    expect(await transactionsOf(() => changeAgent(context, organization, agent, after))).toEqual([4]);
  });

  it('an assignment under an Idempotency-Key: the agent, the skill, the answer', async () => {
    const agent = headOf(await insert());
    expect(await transactionsOf(() => insertAgentSkill(context, organization, agent, skill, record))).toEqual([3]);
  });

  it('a deletion: the agent and its purge', async () => {
    const agent = headOf(await insert(both));
    expect(await transactionsOf(() => removeAgent(context, organization, agent, purgeDueAt))).toEqual([2]);
  });
});

describe('the cost', () => {
  const more = { model: 'some.model', capabilities: [], status: 'active' };
  const newAgent = { name: 'writer', displayName: 'Writer', category: 'business', ...more };
  const create = (fields: object = {}, once?: RecordResponse) =>
    createAgent(context, organization, { ...newAgent, systemPrompt: '', soul: '', ...fields } as never, once);
  const update = (patch: object) => updateAgent(context, organization, 'writer', patch, always);
  const cost = (requests: number, rcu: number, wcu: number): Omit<Cost, 'rounds'> => ({ requests, rcu, wcu });
  const catalogue = [{ id: skill.id, name: 'a', description: 'd' }];

  it('of a create is one request: two write units for each item of its transaction', async () => {
    expect(await costOf(() => create())).toMatchObject(cost(1, 0, 4));
    organization = `${organization}x` as Organization;
    expect(await costOf(() => create(both))).toMatchObject(cost(1, 0, 8));
    organization = `${organization}x` as Organization;
    expect(await costOf(() => create(both, record))).toMatchObject(cost(1, 0, 10));
  });

  it('of the default model is one read more, where none is named', async () => {
    expect(await costOf(() => create({ model: undefined }))).toMatchObject(cost(2, 1, 4));
    await changeSettings({ table }, organization, { defaultModel: 'its.model' });
    expect(await costOf(() => update({ model: null }))).toMatchObject(cost(3, 2, 1));
    expect(await costOf(() => update({ model: 'named.model' }))).toMatchObject(cost(2, 1, 1));
  });

  it('of a read is one request without texts, else two', async () => {
    const get = () => getAgent(context, organization, 'writer');
    await create();
    expect(await costOf(get)).toMatchObject({ requests: 1, rcu: 1 });
    await update({ soul: 'Kind.' });
    expect(await costOf(get)).toMatchObject(cost(2, 2, 0));
    await update({ systemPrompt: 'Write.' });
    expect(await costOf(get)).toMatchObject(cost(2, 3, 0));
  });

  it('of a read of the longest texts is that of their bytes', async () => {
    await create({ systemPrompt: '😀'.repeat(50_000) });
    await update({ soul: '🚀'.repeat(50_000) });
    expect(await costOf(() => getAgent(context, organization, 'writer'))).toMatchObject(cost(2, 1 + 2 * 49, 0));
  });

  it('of a change is a read and a write; of a text, a transaction; of nothing, the read', async () => {
    await create(both);
    expect(await costOf(() => update({}))).toMatchObject(cost(2, 3, 0));
    expect(await costOf(() => update({ status: 'draft' }))).toMatchObject(cost(3, 3, 1));
    expect(await costOf(() => update({ soul: 'Other.' }))).toMatchObject(cost(3, 3, 4));
  });

  it('of a list is one request for a megabyte: a read unit for 4 KB of the agents, whatever their texts', async () => {
    const texts = { systemPrompt: 'x'.repeat(5000), soul: 'y'.repeat(5000) };
    const many = Array.from({ length: 20 }, (_, nth) => storedAgent({ name: `agent-${nth}`, ...texts }));
    await seedAgents(table, organization, many);
    const list = () => listAgents(context, organization, {}, { limit: 20, offset: 0 });
    expect(await costOf(list)).toMatchObject(cost(1, 2, 0));
  });

  it('of an assignment is two reads and a transaction, and again the two reads', async () => {
    await create();
    const assign = () => assignSkill(context, organization, 'writer', skill.id, catalogue, undefined);
    expect(await costOf(assign)).toMatchObject(cost(3, 2, 4));
    expect(await costOf(assign)).toMatchObject(cost(2, 2, 0));
    expect(await costOf(() => listSkills(context, organization, 'writer', catalogue))).toMatchObject(cost(2, 2, 0));
    expect(await costOf(() => unassignSkill(context, organization, 'writer', skill.id))).toMatchObject(cost(2, 1, 4));
  });

  it('of a deletion is a read, a transaction, and a look at what it ran', async () => {
    await create(both);
    expect(await costOf(() => deleteAgent(context, organization, 'writer', always))).toMatchObject(cost(3, 2, 4));
  });
});

describe('an agent that is prepared', () => {
  const prepared = () => readPreparedAgent(context, organization, 'writer');

  it('takes the texts, the skills and two looks at its version once, then one look', async () => {
    await insertAgentSkill(context, organization, headOf(await insert(both)), skill, undefined);
    const first = await costOf(prepared);
    expect([first.requests, first.rounds]).toEqual([4, 3]);
    expect(await costOf(prepared)).toMatchObject({ requests: 1, rcu: 1 });
  });

  it('takes nothing where its head was just read and its version is known', async () => {
    await insert(both);
    await prepared();
    const head = await readAgentHead(context, organization, 'writer');
    expect(await costOf(() => readPreparedAgent(context, organization, 'writer', head))).toMatchObject({ requests: 0 });
  });

  it('has the texts and skills of each new version', async () => {
    const agent = await insert(both);
    expect(await prepared()).toEqual({ agent, skills: [] });
    await insertAgentSkill(context, organization, headOf(agent), skill, undefined);
    expect(await prepared()).toEqual({ agent: { ...agent, version: 2 }, skills: [skill] });
    const changed = { ...agent, soul: 'Other.', version: 3 };
    await changeAgent(context, organization, { ...agent, version: 2 }, changed);
    expect(await prepared()).toEqual({ agent: changed, skills: [skill] });
  });

  it('is read again where the head that was read is no longer its version', async () => {
    const agent = await insert(both);
    const old = await readAgentHead(context, organization, 'writer');
    await insertAgentSkill(context, organization, headOf(agent), skill, undefined);
    expect(await readPreparedAgent(context, organization, 'writer', old)).toEqual({
      agent: { ...agent, version: 2 },
      skills: [skill],
    });
  });

  it('is none of an agent of the same name that was deleted', async () => {
    const agent = await insert(both);
    await prepared();
    await removeAgent(context, organization, headOf(agent), purgeDueAt);
    expect(await prepared()).toBeUndefined();
    const namesake = await insert({ soul: 'Other.' });
    expect(await prepared()).toEqual({ agent: namesake, skills: [] });
  });
});

it('an agent from before agents had models is read with the default one, and changed as any', async () => {
  const old = {
    id: storedAgent().id,
    name: 'old',
    displayName: 'Old',
    description: '',
    category: 'qa',
    status: 'active',
    isSystem: true,
    version: 1,
    updatedAt: '2026-01-01T00:00:00.000Z',
  };
  const Item = { pk: `O#${organization}#A`, sk: 'old', kind: 'agent', ...old };
  await table.client.send(new PutCommand({ TableName: table.name, Item }));
  const { data } = await getAgent(context, organization, 'old');
  expect(data).toMatchObject({ model: 'default.model', systemPrompt: '', soul: '', capabilities: [] });
  expect((await updateAgent(context, organization, 'old', { model: null, soul: '' }, always)).version).toBe(1);
  const changed = await updateAgent(context, organization, 'old', { soul: 'New.' }, always);
  expect(changed).toMatchObject({ version: 2, data: { model: 'default.model', soul: 'New.' } });
  expect(await getAgent(context, organization, 'old')).toEqual(changed);
});
