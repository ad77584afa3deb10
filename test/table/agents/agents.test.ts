import { DeleteCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, it } from 'vitest';
import { getAgent, updateAgent } from '../../../lib/agents/agents.ts';
import type { Organization } from '../../../lib/contract/organization.ts';
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
import { readPreparedAgent } from '../../../lib/table/agents/prepared-agents.ts';
import type { RecordResponse } from '../../../lib/table/idempotency.ts';
import { idempotencyRecordWrite } from '../../../lib/table/idempotency.ts';
import { Conflict } from '../../../lib/table/transact.ts';
import { dumpOf } from '../../table-dump.ts';
import { meter } from '../fixtures/capacity.ts';
import { sendTransactionsTogether } from '../fixtures/concurrent-transactions.ts';
import { always, createTestTable, errorOf } from '../tasks/test-table.ts';
import { storedAgent } from './agent-seed.ts';

const board = await createTestTable();
const { table } = board;
const { costOf } = meter(table);
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

/** Returns the next version of an agent. */
const next = (agent: StoredAgent, fields: Partial<StoredAgent> = {}): StoredAgent => ({
  ...agent,
  version: agent.version + 1,
  ...fields,
});

describe('an inserted agent', () => {
  it('is read with and without its texts, and in the list', async () => {
    const agent = await insert(both);
    expect(await readAgent(context, organization, 'writer')).toEqual(agent);
    expect(await readAgentHead(context, organization, 'writer')).toEqual(headOf(agent));
    expect(await readAgents(context, organization)).toEqual([headOf(agent)]);
  });

  it('keeps its name: another agent with the name throws `name_taken` and writes nothing', async () => {
    await insert();
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

describe('a change', () => {
  it('puts the new texts and keeps the old ones', async () => {
    const agent = await insert(both);
    const after = next(agent, { systemPrompt: 'Write better.', soul: 'Kind.' });
    await changeAgent(context, organization, agent, after);
    expect(await readAgent(context, organization, 'writer')).toEqual(after);
    const texts = Object.values(await dump()).flatMap((item) => (item as { text?: string }).text ?? []);
    expect(texts.sort()).toEqual(['Kind.', 'Write better.', 'Write.']);
  });

  it('of an agent that has changed throws `Conflict` and writes nothing', async () => {
    const agent = await insert();
    await changeAgent(context, organization, agent, next(agent));
    const before = await dump();
    const late = changeAgent(context, organization, agent, next(agent, { soul: 'Late.' }));
    await expect(late).rejects.toBeInstanceOf(Conflict);
    expect(await dump()).toEqual(before);
  });

  it.each([
    ['was deleted', false],
    ['was deleted and created again', true],
  ])('of an agent that %s throws `Conflict` and writes nothing', async (_, again) => {
    const agent = await insert();
    await removeAgent(context, organization, headOf(agent), purgeDueAt);
    if (again) await insert();
    const before = await dump();
    const late = changeAgent(context, organization, agent, next(agent, { soul: 'Late.' }));
    await expect(late).rejects.toBeInstanceOf(Conflict);
    expect(await dump()).toEqual(before);
  });

  it('of an agent that got a skill throws `Conflict`', async () => {
    const agent = await insert();
    await insertAgentSkill(context, organization, headOf(agent), skill, undefined);
    await expect(changeAgent(context, organization, agent, next(agent))).rejects.toBeInstanceOf(Conflict);
  });
});

describe('a read of an agent', () => {
  /** Runs a function between the read of the agent and the read of its texts. */
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

  /** Deletes an agent and the items that its purge would delete. */
  async function erase(agent: StoredAgent): Promise<void> {
    await removeAgent(context, organization, headOf(agent), purgeDueAt);
    for (const { pk, sk } of textItems(organization, agent))
      await table.client.send(new DeleteCommand({ TableName: table.name, Key: { pk, sk } }));
  }

  it('during a change returns one version', async () => {
    const agent = await insert(both);
    const after = next(agent, { systemPrompt: 'Other.', soul: 'Other soul.' });
    meanwhile(() => changeAgent(context, organization, agent, after));
    expect(await readAgent(context, organization, 'writer')).toEqual(agent);
    expect(await readAgent(context, organization, 'writer')).toEqual(after);
  });

  it('during a deletion and its purge returns no agent', async () => {
    const agent = await insert(both);
    meanwhile(() => erase(agent));
    expect(await readAgent(context, organization, 'writer')).toBeUndefined();
  });

  it('during a deletion, its purge and a new creation returns the new agent', async () => {
    const agent = await insert(both);
    const again = storedAgent({ soul: 'New.' });
    meanwhile(() => erase(agent).then(() => insertAgent(context, organization, again, undefined)));
    expect(await readAgent(context, organization, 'writer')).toEqual(again);
  });

  it('with a missing text is an error', async () => {
    const agent = await insert(both);
    for (const { pk, sk } of textItems(organization, agent))
      await table.client.send(new DeleteCommand({ TableName: table.name, Key: { pk, sk } }));
    await expect(readAgent(context, organization, 'writer')).rejects.toThrow('is missing');
  });
});

describe('a deletion', () => {
  it('deletes the item of the agent and writes its purge', async () => {
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
    ['deleted', (agent: StoredAgent) => removeAgent(context, organization, headOf(agent), purgeDueAt)],
    [
      'deleted and created again',
      (agent: StoredAgent) => removeAgent(context, organization, headOf(agent), purgeDueAt).then(() => insert()),
    ],
  ])('of an agent that was %s throws `Conflict` and writes no purge', async (_, change) => {
    const agent = await insert();
    await change(agent);
    const before = await dump();
    await expect(removeAgent(context, organization, headOf(agent), purgeDueAt)).rejects.toBeInstanceOf(Conflict);
    expect(await dump()).toEqual(before);
  });
});

describe('the assignment of a skill', () => {
  it('to an agent that was deleted throws `not_found` and writes nothing', async () => {
    const agent = await insert();
    await removeAgent(context, organization, headOf(agent), purgeDueAt);
    const namesake = await insert();
    const before = await dump();
    const refused = await errorOf(insertAgentSkill(context, organization, headOf(agent), skill, record));
    expect(refused?.code).toBe('not_found');
    expect(await dump()).toEqual(before);
    expect(await readAgentSkills(context, organization, namesake.id)).toEqual([]);
  });

  it('by two concurrent requests is made once, and increments the version once', async () => {
    const agent = await insert();
    sendTransactionsTogether(table, 2);
    const times = ['2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z'];
    await Promise.all(
      times.map((assignedAt) =>
        insertAgentSkill(context, organization, headOf(agent), { ...skill, assignedAt }, undefined),
      ),
    );
    expect(await readAgentSkills(context, organization, agent.id)).toMatchObject([{ id: skill.id }]);
    expect((await readAgentHead(context, organization, 'writer'))?.version).toBe(2);
  });

  it('can be removed from an agent that has it, and stays with other agents', async () => {
    const [one, other] = [await insert(), await insert({ name: 'other' })];
    await insertAgentSkill(context, organization, headOf(other), skill, undefined);
    const before = await dump();
    for (const agent of [one, storedAgent({ name: 'unknown' })])
      expect((await errorOf(removeAgentSkill(context, organization, headOf(agent), skill.id)))?.code).toBe('not_found');
    expect(await dump()).toEqual(before);
  });
});

describe('readPreparedAgent', () => {
  const prepared = () => readPreparedAgent(context, organization, 'writer');

  it('sends four requests for a new version, and one for a cached version', async () => {
    await insertAgentSkill(context, organization, headOf(await insert(both)), skill, undefined);
    const first = await costOf(prepared);
    expect([first.requests, first.rounds]).toEqual([4, 3]);
    expect(await costOf(prepared)).toMatchObject({ requests: 1, rcu: 1 });
  });

  it('sends no request for a known agent with a cached version', async () => {
    await insert(both);
    await prepared();
    const head = await readAgentHead(context, organization, 'writer');
    expect(await costOf(() => readPreparedAgent(context, organization, 'writer', head))).toMatchObject({ requests: 0 });
  });

  it('returns the texts and skills of each new version', async () => {
    const agent = await insert(both);
    expect(await prepared()).toEqual({ agent, skills: [] });
    await insertAgentSkill(context, organization, headOf(agent), skill, undefined);
    expect(await prepared()).toEqual({ agent: { ...agent, version: 2 }, skills: [skill] });
    const changed = { ...agent, soul: 'Other.', version: 3 };
    await changeAgent(context, organization, { ...agent, version: 2 }, changed);
    expect(await prepared()).toEqual({ agent: changed, skills: [skill] });
  });

  it('reads an agent again that has changed since the caller read it', async () => {
    const agent = await insert(both);
    const old = await readAgentHead(context, organization, 'writer');
    await insertAgentSkill(context, organization, headOf(agent), skill, undefined);
    expect(await readPreparedAgent(context, organization, 'writer', old)).toEqual({
      agent: { ...agent, version: 2 },
      skills: [skill],
    });
  });

  it('returns no cached version of a deleted agent with the same name', async () => {
    const agent = await insert(both);
    await prepared();
    await removeAgent(context, organization, headOf(agent), purgeDueAt);
    expect(await prepared()).toBeUndefined();
    const namesake = await insert({ soul: 'Other.' });
    expect(await prepared()).toEqual({ agent: namesake, skills: [] });
  });
});

it('an agent of a version without models has the default model and can be changed', async () => {
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
