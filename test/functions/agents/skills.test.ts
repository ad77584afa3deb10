import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { readSkills } from '../../../lib/agents/skill-catalogue.ts';
import { ulidOf } from '../../../lib/contract/ids.ts';
import { keys } from '../../../lib/table/keys.ts';
import { errorOf } from '../../api.ts';
import { type AgentsApi, agentOf, createTestAgents, sendConcurrently } from './test-agents.ts';

vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-03-01T12:00:00.000Z') });
afterAll(() => vi.useRealTimers());

const { newAgentsApi, service } = await createTestAgents();
let api: AgentsApi;
beforeEach(async () => {
  api = await newAgentsApi();
  await api.put();
});

/** Advances the clock by a minute. */
const wait = () => vi.setSystemTime(Date.now() + 60_000);

const skillId = 'sk_code-review';
const etag = async () => (await api.get('writer')).headers.ETag;
const idsOf = async (name = 'writer') => (await api.skillsOf(name)).map(({ id }) => id);
const withKey = { headers: { 'Idempotency-Key': 'key' } };

describe('an assigned skill', () => {
  it('returns 201 with only success', async () => {
    const answer = await api.assign('writer', { skillId });
    expect([answer.status, answer.body]).toEqual([201, { success: true }]);
    expect(answer.headers).not.toHaveProperty('ETag');
  });

  it('is listed with exactly id, name, description and assignedAt, not paged', async () => {
    await api.give('writer', skillId);
    const answer = await api.skills('writer');
    expect([answer.status, Object.keys(answer.body)]).toEqual([200, ['success', 'data']]);
    const [skill] = await api.skillsOf('writer');
    expect(Object.keys(skill ?? {})).toEqual(['id', 'name', 'description', 'assignedAt']);
    const { name, description } = readSkills().find(({ id }) => id === skillId) ?? {};
    expect(skill).toEqual({ id: skillId, name, description, assignedAt: new Date().toISOString() });
  });

  it('is listed in the order of assignment, ties by id', async () => {
    const order = ['sk_test-planning', 'sk_code-review', 'sk_research-brief', 'sk_incident-summary'];
    for (const id of order) {
      await api.give('writer', id);
      wait();
    }
    expect(await idsOf()).toEqual(order);
    await api.give('qa-reviewer', ...order);
    expect(await idsOf('qa-reviewer')).toEqual(order.toSorted());
  });

  it('assigned again keeps its position and time, and writes nothing', async () => {
    await api.give('writer', skillId);
    wait();
    await api.give('writer', 'sk_release-notes');
    const before = await api.dump();
    wait();
    const again = await api.assign('writer', { skillId });
    expect([again.status, again.body]).toEqual([201, { success: true }]);
    expect(await api.dump()).toEqual(before);
    expect(await idsOf()).toEqual([skillId, 'sk_release-notes']);
  });

  it('creates a new version of the agent, as an unassignment does', async () => {
    await api.give('writer', skillId);
    expect(await etag()).toBe('"2"');
    const firstVersion = { headers: { 'If-Match': '"1"' } };
    await api.refuses(() => api.update('writer', { soul: 'x' }, firstVersion), 412, 'precondition_failed');
    await api.unassign('writer', skillId);
    expect(await etag()).toBe('"3"');
  });

  it('can be unassigned, and assigned again as the last', async () => {
    await api.give('writer', skillId, 'sk_test-planning');
    const answer = await api.unassign('writer', skillId);
    expect([answer.status, answer.body]).toEqual([200, { success: true }]);
    expect(await idsOf()).toEqual(['sk_test-planning']);
    wait();
    await api.give('writer', skillId);
    expect(await idsOf()).toEqual(['sk_test-planning', skillId]);
  });

  it('belongs to one agent of one organization', async () => {
    const other = await newAgentsApi();
    await other.put();
    await api.give('writer', skillId);
    expect(await idsOf('qa-reviewer')).toEqual([]);
    expect(await other.skillsOf('writer')).toEqual([]);
  });

  it('that is no longer in the catalogue is not listed, but can be unassigned', async () => {
    await api.give('writer', skillId);
    const { id } = agentOf(await api.get('writer'));
    const Item = {
      ...keys.agentSkill(api.organization, ulidOf(id), 'sk_of-yesterday'),
      assignedAt: '2026-01-01T00:00:00.000Z',
    };
    await service.table.client.send(new PutCommand({ TableName: service.tableName, Item }));
    expect(await idsOf()).toEqual([skillId]);
    const before = await etag();
    expect((await api.unassign('writer', 'sk_of-yesterday')).status).toBe(200);
    expect(await etag()).not.toBe(before);
  });

  it('is kept by an update of the agent', async () => {
    await api.give('writer', skillId);
    await api.update('writer', { soul: 'New.' });
    expect(await idsOf()).toEqual([skillId]);
  });

  it('is assigned to its agent in ten concurrent assignments', async () => {
    const skills = readSkills().map(({ id }) => id);
    const answers = await sendConcurrently(10, (nth) =>
      api.assign(nth % 2 ? 'writer' : 'qa-reviewer', { skillId: skills[nth % 5] }),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(201));
    expect((await idsOf()).toSorted()).toEqual(skills.toSorted());
    expect(await etag()).toBe('"6"');
  });

  it('assigned ten times concurrently is one item of the table and one version of the agent', async () => {
    const answers = await sendConcurrently(10, () => api.assign('writer', { skillId }));
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(201));
    const rows = Object.keys(await api.dump()).filter((key) => key.endsWith(skillId));
    expect(rows).toHaveLength(1);
    expect(await etag()).toBe('"2"');
  });

  it('unassigned ten times concurrently is unassigned once', async () => {
    await api.give('writer', skillId);
    const answers = await sendConcurrently(10, () => api.unassign('writer', skillId));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(404)]);
    expect(await etag()).toBe('"3"');
  });
});

describe('an assignment under an Idempotency-Key', () => {
  it('of a skill that the agent has is replayed', async () => {
    await api.give('writer', skillId);
    const first = await api.assign('writer', { skillId }, withKey);
    const again = await api.assign('writer', { skillId }, withKey);
    expect([first, again].map(({ status }) => status)).toEqual([201, 201]);
    expect(first.headers).not.toHaveProperty('Idempotency-Replayed');
    expect(again.headers['Idempotency-Replayed']).toBe('true');
    expect(await etag()).toBe('"2"');
  });
});

describe('an assignment is rejected', () => {
  it('with 404 not_found for a skill that is not in the catalogue', async () => {
    for (const unknown of ['sk_juggling', 'sk_constructor', 'sk_skills'])
      await api.refuses(() => api.assign('writer', { skillId: unknown }), 404, 'not_found');
  });

  it('with 400 validation_failed for an invalid skill id', async () => {
    for (const body of [{}, { skillId: 'code-review' }]) {
      const answer = await api.assign('writer', body);
      expect([answer.status, errorOf(answer).details?.[0]?.path]).toEqual([400, 'skillId']);
    }
    const more = await api.assign('writer', { skillId, assignedAt: '2026-01-01T00:00:00.000Z' });
    expect([more.status, errorOf(more).details?.[0]?.path]).toEqual([400, 'assignedAt']);
  });

  it('with 404 not_found for an absent agent, an invalid name and an agent of another organization', async () => {
    const other = await newAgentsApi();
    for (const name of ['absent-agent', 'WRITER', 'writer'])
      await other.refuses(() => other.assign(name, { skillId }), 404, 'not_found');
  });
});

describe('a request about skills is rejected', () => {
  it('with 404 not_found if the agent does not have the skill or the id is invalid', async () => {
    await api.give('qa-reviewer', skillId);
    for (const id of [skillId, 'sk_juggling', 'code-review', 'sk_', 'SK_CODE-REVIEW', 'sk_a#b', ''])
      await api.refuses(() => api.unassign('writer', id), 404, 'not_found');
    for (const name of ['absent-agent', 'WRITER'])
      await api.refuses(() => api.unassign(name, skillId), 404, 'not_found');
  });

  it('with 404 not_found for an id that is longer than a key of the table can be', async () => {
    await api.refuses(() => api.unassign('writer', `sk_${'a'.repeat(2000)}`), 404, 'not_found');
  });

  it('with 404 not_found for a list or an unassignment of an absent agent or an agent of another organization', async () => {
    const other = await newAgentsApi();
    for (const name of ['absent-agent', 'WRITER', 'writer']) {
      await other.refuses(() => other.skills(name), 404, 'not_found');
      await other.refuses(() => other.unassign(name, skillId), 404, 'not_found');
    }
  });

  it('with 400 validation_failed for a query parameter', async () => {
    for (const query of ['limit=20', 'offset=0', 'search=x'])
      await api.refuses(() => api.skills('writer', query), 400, 'validation_failed');
  });

  it('with 401 without a token and 403 without the scope', async () => {
    const reader = await newAgentsApi(['agents:read', 'agents:execute', 'tasks:write']);
    const writer = await newAgentsApi(['agents:write', 'tasks:read']);
    await writer.refuses(() => writer.skills('absent-agent'), 403, 'insufficient_scope');
    await reader.refuses(() => reader.assign('absent-agent', {}), 403, 'insufficient_scope');
    await reader.refuses(() => reader.unassign('absent-agent', 'x'), 403, 'insufficient_scope');
    await reader.refuses(() => reader.skills('absent-agent', '', { token: '' }), 401, 'unauthorized');
    await reader.refuses(() => reader.assign('absent-agent', {}, { token: '' }), 401, 'unauthorized');
    await reader.refuses(() => reader.unassign('absent-agent', 'x', { token: '' }), 401, 'unauthorized');
  });
});
