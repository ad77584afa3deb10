import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { readSkills } from '../../../lib/agents/skill-catalogue.ts';
import { ulidOf } from '../../../lib/contract/ids.ts';
import { keys } from '../../../lib/table/keys.ts';
import { errorOf } from '../../api.ts';
import { agentOf, atOnce, openRegistries, type Registry } from './registry.ts';

vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-03-01T12:00:00.000Z') });
afterAll(() => vi.useRealTimers());

const { newRegistry, service } = await openRegistries();
let registry: Registry;
beforeEach(async () => {
  registry = await newRegistry();
  await registry.put();
});

/** Lets a minute pass. */
const wait = () => vi.setSystemTime(Date.now() + 60_000);

const skillId = 'sk_code-review';
const etag = async () => (await registry.get('writer')).headers.ETag;
const idsOf = async (name = 'writer') => (await registry.skillsOf(name)).map(({ id }) => id);
const withKey = { headers: { 'Idempotency-Key': 'key' } };

describe('an assigned skill', () => {
  it('is answered with 201 and nothing but success', async () => {
    const answer = await registry.assign('writer', { skillId });
    expect([answer.status, answer.body]).toEqual([201, { success: true }]);
    expect(answer.headers).not.toHaveProperty('ETag');
  });

  it('is listed with exactly id, name, description and assignedAt, not paged', async () => {
    await registry.give('writer', skillId);
    const answer = await registry.skills('writer');
    expect([answer.status, Object.keys(answer.body)]).toEqual([200, ['success', 'data']]);
    const [skill] = await registry.skillsOf('writer');
    expect(Object.keys(skill ?? {})).toEqual(['id', 'name', 'description', 'assignedAt']);
    const { name, description } = readSkills().find(({ id }) => id === skillId) ?? {};
    expect(skill).toEqual({ id: skillId, name, description, assignedAt: new Date().toISOString() });
  });

  it('is listed in the order of assignment, ties by id', async () => {
    const order = ['sk_test-planning', 'sk_code-review', 'sk_research-brief', 'sk_incident-summary'];
    for (const id of order) {
      await registry.give('writer', id);
      wait();
    }
    expect(await idsOf()).toEqual(order);
    await registry.give('qa-reviewer', ...order);
    expect(await idsOf('qa-reviewer')).toEqual(order.toSorted());
  });

  it('assigned again keeps its place and its time, and writes nothing', async () => {
    await registry.give('writer', skillId);
    wait();
    await registry.give('writer', 'sk_release-notes');
    const before = await registry.dump();
    wait();
    const again = await registry.assign('writer', { skillId });
    expect([again.status, again.body]).toEqual([201, { success: true }]);
    expect(await registry.dump()).toEqual(before);
    expect(await idsOf()).toEqual([skillId, 'sk_release-notes']);
  });

  it('makes another version of the agent, and so does one that is taken away', async () => {
    await registry.give('writer', skillId);
    expect(await etag()).toBe('"2"');
    const stale = { headers: { 'If-Match': '"1"' } };
    await registry.refuses(() => registry.update('writer', { soul: 'x' }, stale), 412, 'precondition_failed');
    await registry.unassign('writer', skillId);
    expect(await etag()).toBe('"3"');
  });

  it('is taken away for good, and can be assigned again as the newest', async () => {
    await registry.give('writer', skillId, 'sk_test-planning');
    const answer = await registry.unassign('writer', skillId);
    expect([answer.status, answer.body]).toEqual([200, { success: true }]);
    expect(await idsOf()).toEqual(['sk_test-planning']);
    wait();
    await registry.give('writer', skillId);
    expect(await idsOf()).toEqual(['sk_test-planning', skillId]);
  });

  it('is that agent’s alone, and that organization’s', async () => {
    const other = await newRegistry();
    await other.put();
    await registry.give('writer', skillId);
    expect(await idsOf('qa-reviewer')).toEqual([]);
    expect(await other.skillsOf('writer')).toEqual([]);
  });

  it('that the catalogue no longer has is not listed, but can be taken away', async () => {
    await registry.give('writer', skillId);
    const { id } = agentOf(await registry.get('writer'));
    const Item = {
      ...keys.agentSkill(registry.organization, ulidOf(id), 'sk_of-yesterday'),
      assignedAt: '2026-01-01T00:00:00.000Z',
    };
    await service.table.client.send(new PutCommand({ TableName: service.tableName, Item }));
    expect(await idsOf()).toEqual([skillId]);
    const before = await etag();
    expect((await registry.unassign('writer', 'sk_of-yesterday')).status).toBe(200);
    expect(await etag()).not.toBe(before);
  });

  it('survives a change of the agent', async () => {
    await registry.give('writer', skillId);
    await registry.update('writer', { soul: 'New.' });
    expect(await idsOf()).toEqual([skillId]);
  });

  it('of ten agents assigned at once is each one’s', async () => {
    const skills = readSkills().map(({ id }) => id);
    const answers = await atOnce(10, (nth) =>
      registry.assign(nth % 2 ? 'writer' : 'qa-reviewer', { skillId: skills[nth % 5] }),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(201));
    expect((await idsOf()).toSorted()).toEqual(skills.toSorted());
    expect(await etag()).toBe('"6"');
  });

  it('assigned by ten at once is one row of the table, and one change of the agent', async () => {
    const answers = await atOnce(10, () => registry.assign('writer', { skillId }));
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(201));
    const rows = Object.keys(await registry.dump()).filter((key) => key.endsWith(skillId));
    expect(rows).toHaveLength(1);
    expect(await etag()).toBe('"2"');
  });

  it('taken away by ten at once is taken away once', async () => {
    await registry.give('writer', skillId);
    const answers = await atOnce(10, () => registry.unassign('writer', skillId));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(404)]);
    expect(await etag()).toBe('"3"');
  });
});

describe('an assignment under an Idempotency-Key', () => {
  it('of a skill that the agent had is replayed, too', async () => {
    await registry.give('writer', skillId);
    const first = await registry.assign('writer', { skillId }, withKey);
    const again = await registry.assign('writer', { skillId }, withKey);
    expect([first, again].map(({ status }) => status)).toEqual([201, 201]);
    expect(first.headers).not.toHaveProperty('Idempotency-Replayed');
    expect(again.headers['Idempotency-Replayed']).toBe('true');
    expect(await etag()).toBe('"2"');
  });
});

describe('an assignment is refused', () => {
  it('with 404 not_found for a skill that the catalogue does not have', async () => {
    for (const unknown of ['sk_juggling', 'sk_constructor', 'sk_skills'])
      await registry.refuses(() => registry.assign('writer', { skillId: unknown }), 404, 'not_found');
  });

  it('with 400 validation_failed for what is no id of a skill', async () => {
    for (const body of [{}, { skillId: null }, { skillId: 'code-review' }, { skillId: 'sk_../x' }, { skillId: 7 }]) {
      const answer = await registry.assign('writer', body);
      expect([answer.status, errorOf(answer).details?.[0]?.path]).toEqual([400, 'skillId']);
    }
    const more = await registry.assign('writer', { skillId, assignedAt: '2026-01-01T00:00:00.000Z' });
    expect([more.status, errorOf(more).details?.[0]?.path]).toEqual([400, 'assignedAt']);
  });

  it('with 404 not_found for nobody, for an impossible name, and for an agent of others', async () => {
    const other = await newRegistry();
    for (const name of ['nobody', 'WRITER', 'writer'])
      await other.refuses(() => other.assign(name, { skillId }), 404, 'not_found');
  });
});

describe('skills are refused', () => {
  it('with 404 not_found where the agent does not have the skill, or can have none of that id', async () => {
    await registry.give('qa-reviewer', skillId);
    for (const id of [skillId, 'sk_juggling', 'code-review', 'sk_', 'SK_CODE-REVIEW', 'sk_a#b', ''])
      await registry.refuses(() => registry.unassign('writer', id), 404, 'not_found');
    for (const name of ['nobody', 'WRITER'])
      await registry.refuses(() => registry.unassign(name, skillId), 404, 'not_found');
  });

  it('with 404 not_found where the id is longer than any key of the table', async () => {
    await registry.refuses(() => registry.unassign('writer', `sk_${'a'.repeat(2000)}`), 404, 'not_found');
  });

  it('with 404 not_found where the agent is nobody, or of others', async () => {
    const other = await newRegistry();
    for (const name of ['nobody', 'WRITER', 'writer']) {
      await other.refuses(() => other.skills(name), 404, 'not_found');
      await other.refuses(() => other.unassign(name, skillId), 404, 'not_found');
    }
  });

  it('with 400 validation_failed for any query', async () => {
    for (const query of ['limit=20', 'offset=0', 'search=x'])
      await registry.refuses(() => registry.skills('writer', query), 400, 'validation_failed');
  });

  it('with 401 and 403 by the scopes of their agents', async () => {
    const reader = await newRegistry(['agents:read', 'agents:execute', 'tasks:write']);
    const writer = await newRegistry(['agents:write', 'tasks:read']);
    await writer.refuses(() => writer.skills('nobody'), 403, 'insufficient_scope');
    await reader.refuses(() => reader.assign('nobody', {}), 403, 'insufficient_scope');
    await reader.refuses(() => reader.unassign('nobody', 'x'), 403, 'insufficient_scope');
    await reader.refuses(() => reader.skills('nobody', '', { token: '' }), 401, 'unauthorized');
    await reader.refuses(() => reader.assign('nobody', {}, { token: '' }), 401, 'unauthorized');
    await reader.refuses(() => reader.unassign('nobody', 'x', { token: '' }), 401, 'unauthorized');
  });
});
