import { beforeEach, describe, expect, it } from 'vitest';
import { handler as createTask } from '../../../functions/kanban-tasks/create-task.ts';
import { handler as listTasks } from '../../../functions/kanban-tasks/list-tasks.ts';
import type { Task } from '../../../lib/contract/tasks.ts';
import { dataOf, paginationOf } from '../../api.ts';
import { call } from '../../service.ts';
import { type AgentsApi, agentOf, createTestAgents, itemsOf, sendConcurrently } from './test-agents.ts';

const { newAgentsApi } = await createTestAgents();
let api: AgentsApi;
beforeEach(async () => {
  api = await newAgentsApi();
});

const full = { description: 'Writes', systemPrompt: 'Write.', soul: 'Kind.', capabilities: ['text'], status: 'draft' };

describe('a delete', () => {
  it('returns only success', async () => {
    await api.put();
    const answer = await api.delete('writer');
    expect([answer.status, answer.body]).toEqual([200, { success: true }]);
    expect(answer.headers).not.toHaveProperty('ETag');
  });

  it('removes the agent from every read before it responds', async () => {
    await api.put(full);
    await api.delete('writer');
    const body = { skillId: 'sk_code-review' };
    for (const answer of [
      await api.get('writer'),
      await api.update('writer', {}),
      await api.setSoul('writer', { soul: 'x' }),
      await api.skills('writer'),
      await api.assign('writer', body),
      await api.unassign('writer', 'sk_code-review'),
      await api.delete('writer'),
    ])
      expect(answer.status).toBe(404);
    for (const query of ['', 'search=writer', 'status=draft', 'category=business']) {
      const list = await api.list(query);
      expect(itemsOf(list).map(({ name }) => name)).not.toContain('writer');
      expect(paginationOf(list).total).toBe(query === '' ? 2 : 0);
    }
  });

  it('frees the name for a new agent, which gets nothing of the deleted agent', async () => {
    const { id } = agentOf(await api.create({ name: 'writer', displayName: 'W', category: 'qa', ...full }));
    await api.give('writer', 'sk_code-review', 'sk_release-notes');
    await api.delete('writer');
    await api.put();
    const namesake = agentOf(await api.get('writer'));
    expect(namesake.id).not.toBe(id);
    expect(namesake).toMatchObject({ systemPrompt: '', soul: '', capabilities: [], status: 'active' });
    expect(namesake).not.toHaveProperty('description');
    expect(await api.skillsOf('writer')).toEqual([]);
  });

  it('keeps the name of the agent in its tasks, so that a filter finds them', async () => {
    await api.put();
    const { token } = api;
    const body = { title: 'Write', assignedAgent: 'writer' };
    const created = await call(createTask, { method: 'POST', path: '/api/kanban-tasks', body, token });
    await api.delete('writer');
    const found = await call(listTasks, { path: '/api/kanban-tasks', query: 'assigned_agent=writer', token });
    expect(dataOf<Task[]>(found)).toMatchObject([{ id: dataOf(created).id, assignedAgent: 'writer' }]);
    const refused = await call(createTask, { method: 'POST', path: '/api/kanban-tasks', body, token });
    expect(refused.status).toBe(422);
  });

  it('succeeds once for ten concurrent deletes', async () => {
    await api.put(full);
    const answers = await sendConcurrently(10, () => api.delete('writer'));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(404)]);
  });

  it('and concurrent changes lead to no agent, in any order', async () => {
    await api.put();
    const sends = [
      () => api.delete('writer'),
      () => api.setSoul('writer', { soul: 'New.' }),
      () => api.assign('writer', { skillId: 'sk_code-review' }),
    ];
    const [deleted, ...others] = await Promise.all(sends.map((send) => send()));
    expect(deleted?.status).toBe(200);
    for (const { status } of others) expect([200, 201, 404]).toContain(status);
    expect((await api.get('writer')).status).toBe(404);
    await api.put();
    expect(agentOf(await api.get('writer'))).toMatchObject({ soul: '' });
    expect(await api.skillsOf('writer')).toEqual([]);
  });

  it("does not change another organization's agent with that name", async () => {
    const other = await newAgentsApi();
    await Promise.all([api.put(), other.put(full)]);
    const before = await other.dump();
    await api.delete('writer');
    expect(await other.dump()).toEqual(before);
    expect((await other.get('writer')).status).toBe(200);
  });
});

describe('a delete is rejected', () => {
  it.each(['qa-reviewer', 'prompt-improver'])('with 403 system_agent for %s, even inactive', async (name) => {
    await api.refuses(() => api.delete(name), 403, 'system_agent');
    await api.update(name, { status: 'inactive' });
    await api.refuses(() => api.delete(name), 403, 'system_agent');
  });

  it('with 404 not_found for an absent agent, an invalid name and an agent of another organization', async () => {
    const other = await newAgentsApi();
    await other.put();
    for (const name of ['absent-agent', 'QA-REVIEWER', 'writer'])
      await api.refuses(() => api.delete(name, { headers: { 'If-Match': '"7"' } }), 404, 'not_found');
    expect((await other.get('writer')).status).toBe(200);
  });

  it('with 401, 403 and 400 before the agent is read', async () => {
    const reader = await newAgentsApi(['agents:read', 'agents:execute', 'tasks:write']);
    await reader.refuses(() => reader.delete('qa-reviewer', { token: '' }), 401, 'unauthorized');
    await reader.refuses(() => reader.delete('qa-reviewer'), 403, 'insufficient_scope');
    await api.refuses(() => api.delete('qa-reviewer', { query: 'force=true' }), 400, 'validation_failed');
  });
});
