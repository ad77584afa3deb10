import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { readSkills } from '../../../lib/agents/skill-catalogue.ts';
import { ulidOf } from '../../../lib/contract/ids.ts';
import { keys } from '../../../lib/table/access/keys.ts';
import { versionOf } from '../../api.ts';
import { newForEachTest } from '../../caller.ts';
import { agentOf, createTestAgents, sendConcurrently } from './test-agents.ts';

vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-03-01T12:00:00.000Z') });

const { newAgentsApi, service } = await createTestAgents();
const api = newForEachTest(newAgentsApi);
beforeEach(async () => {
  await api.put();
});

/** Advances the clock by a minute. */
const wait = () => vi.setSystemTime(Date.now() + 60_000);

const skillId = 'sk_code-review';
const version = async () => versionOf(await api.get('writer'));
const idsOf = async (name = 'writer') => (await api.skillsOf(name)).map(({ id }) => id);

describe('an assigned skill', () => {
  it('returns 201 with only success, and is listed with exactly id, name, description and assignedAt', async () => {
    const assigned = await api.assign('writer', { skillId });
    expect([assigned.status, assigned.body]).toEqual([201, { success: true }]);
    expect(assigned.headers).not.toHaveProperty('ETag');
    const answer = await api.skills('writer');
    expect([answer.status, Object.keys(answer.body)]).toEqual([200, ['success', 'data']]);
    const [skill] = await api.skillsOf('writer');
    expect(Object.keys(skill ?? {})).toEqual(['id', 'name', 'description', 'assignedAt']);
    const { name, description } = readSkills().find(({ id }) => id === skillId) ?? {};
    expect(skill).toEqual({ id: skillId, name, description, assignedAt: new Date().toISOString() });
    expect(await idsOf('qa-reviewer')).toEqual([]);
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

  it('can be unassigned, and assigned again as the last, with a version of the agent for each', async () => {
    await api.give('writer', skillId, 'sk_test-planning');
    expect(await version()).toBe(3);
    const answer = await api.unassign('writer', skillId);
    expect([answer.status, answer.body]).toEqual([200, { success: true }]);
    expect([await idsOf(), await version()]).toEqual([['sk_test-planning'], 4]);
    wait();
    await api.give('writer', skillId);
    await api.update('writer', { soul: 'New.' });
    expect(await idsOf()).toEqual(['sk_test-planning', skillId]);
  });

  it('that is no longer in the catalogue is not listed, but can be unassigned', async () => {
    await api.give('writer', skillId);
    const { id } = agentOf(await api.get('writer'));
    const key = keys.agentSkill(api.organization, ulidOf(id), 'sk_of-yesterday');
    const Item = { ...key, assignedAt: '2026-01-01T00:00:00.000Z' };
    await service.table.client.send(new PutCommand({ TableName: service.tableName, Item }));
    expect(await idsOf()).toEqual([skillId]);
    expect((await api.unassign('writer', 'sk_of-yesterday')).status).toBe(200);
    expect(await version()).toBe(3);
  });

  it('is assigned and unassigned once by ten concurrent requests', async () => {
    const assigned = await sendConcurrently(10, () => api.assign('writer', { skillId }));
    expect(assigned.map(({ status }) => status)).toEqual(Array(10).fill(201));
    expect([await idsOf(), await version()]).toEqual([[skillId], 2]);
    const unassigned = await sendConcurrently(10, () => api.unassign('writer', skillId));
    expect(unassigned.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(404)]);
    expect(await version()).toBe(3);
  });
});

it('an assignment of a skill that the agent has is replayed under an Idempotency-Key', async () => {
  const headers = { 'Idempotency-Key': 'key' };
  await api.give('writer', skillId);
  const first = await api.assign('writer', { skillId }, { headers });
  const again = await api.assign('writer', { skillId }, { headers });
  expect([first, again].map(({ status }) => status)).toEqual([201, 201]);
  expect([first, again].map((answer) => answer.headers['Idempotency-Replayed'])).toEqual([undefined, 'true']);
  expect(await version()).toBe(2);
});

it.each(['sk_juggling', 'sk_constructor', 'sk_skills'])(
  'an assignment is rejected with 404 not_found for %s, which is not in the catalogue',
  async (unknown) => {
    const { message, details } = await api.refuses(() => api.assign('writer', { skillId: unknown }), 404, 'not_found');
    expect(message).toBe('The service has no such skill; GET /api/agents/skills lists all skills.');
    expect(details).toMatchObject([{ path: 'skillId', code: 'not_found' }]);
  },
);
