import { describe, expect, it } from 'vitest';
import { dataOf, errorOf, paginationOf } from '../../api.ts';
import { newForEachTest } from '../../caller.ts';
import { createTestExecutions, listed, newestFirst } from '../executions/test-executions.ts';
import { agentOf, itemsOf, sendConcurrently } from './test-agents.ts';

const { newExecutionsApi } = await createTestExecutions();
const api = newForEachTest(newExecutionsApi);

const full = { description: 'Writes', systemPrompt: 'Write.', soul: 'Kind.', capabilities: ['text'], status: 'draft' };
const skillId = 'sk_code-review';
const failing = async () => ({ kind: 'failed', error: 'No.', tokens: 1 }) as const;

/** Creates a running, a completed and a failed execution of an agent. */
async function startOfEachStatus(name = 'writer'): Promise<string[]> {
  const ids = [await api.start({}, name), await api.start({}, name), await api.start({}, name)] as const;
  await api.carryOut(ids[1]);
  await api.carryOut(ids[2], failing);
  return [...ids];
}

describe('a delete', () => {
  it('returns only success, and the agent is in no list any more', async () => {
    const answer = await api.agents.delete('writer');
    expect([answer.status, answer.body]).toEqual([200, { success: true }]);
    expect(answer.headers).not.toHaveProperty('ETag');
    for (const query of ['', 'search=writer', 'category=business']) {
      const list = await api.agents.list(query);
      expect(itemsOf(list).map(({ name }) => name)).not.toContain('writer');
      expect(paginationOf(list).total).toBe(query === '' ? 2 : 0);
    }
  });

  it('frees the name for a new agent, which gets nothing of the deleted agent', async () => {
    await api.agents.update('writer', { ...full, status: 'active' });
    await api.agents.give('writer', skillId, 'sk_release-notes');
    const ids = await startOfEachStatus();
    const { id } = agentOf(await api.agents.get('writer'));
    await api.agents.delete('writer');
    await api.agents.put();
    const namesake = agentOf(await api.agents.get('writer'));
    expect(namesake.id).not.toBe(id);
    expect(namesake).toMatchObject({ systemPrompt: '', soul: '', capabilities: [] });
    expect(namesake).not.toHaveProperty('description');
    expect(await api.agents.skillsOf('writer')).toEqual([]);
    for (const one of ids) await api.refuses(() => api.get('writer', one), 404, 'not_found');
    const own = await api.start();
    for (const list of [await api.listOf('writer'), await api.list()]) expect(listed(list)).toEqual([[own], 1]);
    for (const period of ['7d', '30d', '90d']) {
      const metrics = await api.agents.getMetrics({ params: { name: 'writer' }, query: `period=${period}` });
      expect(dataOf(metrics)).toMatchObject({ executions: { total: 1, running: 1 }, tokens: { total: 0 } });
    }
  });

  it('keeps the name of the agent in its tasks, so that a filter finds them', async () => {
    const body = { title: 'Write', assignedAgent: 'writer' };
    const id = await api.tasks.put(body);
    await api.agents.delete('writer');
    const found = await api.tasks.listTasks({ query: 'assigned_agent=writer' });
    expect(dataOf(found)).toMatchObject([{ id, assignedAgent: 'writer' }]);
    expect(errorOf(await api.tasks.createTask({ body })).code).toBe('unknown_reference');
  });

  it('succeeds once for ten concurrent deletes', async () => {
    const answers = await sendConcurrently(10, () => api.agents.delete('writer'));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(404)]);
  });

  it('and concurrent changes lead to no agent, in any order', async () => {
    const sends = [
      () => api.agents.delete('writer'),
      () => api.agents.setSoul('writer', { soul: 'New.' }),
      () => api.agents.assign('writer', { skillId }),
    ];
    const [deleted, ...others] = await Promise.all(sends.map((send) => send()));
    expect(deleted?.status).toBe(200);
    for (const { status } of others) expect([200, 201, 404]).toContain(status);
    expect((await api.agents.get('writer')).status).toBe(404);
    await api.agents.put();
    expect(agentOf(await api.agents.get('writer'))).toMatchObject({ soul: '' });
    expect(await api.agents.skillsOf('writer')).toEqual([]);
  });
});

describe('after the delete of an agent', () => {
  it('its executions are in no list or total, and cannot be read with the path of another agent', async () => {
    const [id = ''] = await startOfEachStatus();
    const others = await startOfEachStatus('qa-reviewer');
    await api.agents.delete('writer');
    expect(listed(await api.list())).toEqual([newestFirst(...others), 3]);
    for (const query of ['agentName=writer', 'agentName=writer&status=running'])
      expect(listed(await api.list(query))).toEqual([[], 0]);
    await api.refuses(() => api.get('qa-reviewer', id), 404, 'not_found');
  });

  it('an execution that ends later is in no list', async () => {
    const id = await api.start();
    await api.carryOut(id, async () => {
      if ((await api.agents.get('writer')).status === 200) await api.agents.delete('writer');
      return { kind: 'text', text: 'Done.', tokens: 10 };
    });
    await api.agents.put();
    for (const query of ['', 'status=running', 'status=completed', 'status=failed'])
      expect(listed(await api.list(query))).toEqual([[], 0]);
    await api.refuses(() => api.get('writer', id), 404, 'not_found');
  });
});

describe('a delete is rejected, and keeps the executions,', () => {
  it.each(['qa-reviewer', 'prompt-improver'])('with 403 system_agent for %s, even inactive', async (name) => {
    const id = await api.start({}, name);
    await api.refuses(() => api.agents.delete(name), 403, 'system_agent');
    await api.agents.update(name, { status: 'inactive' });
    await api.refuses(() => api.agents.delete(name), 403, 'system_agent');
    expect(listed(await api.list())).toEqual([[id], 1]);
  });

  it('with 412 precondition_failed for another version', async () => {
    const id = await api.start();
    const headers = { 'If-Match': '"7"' };
    await api.refuses(() => api.agents.delete('writer', { headers }), 412, 'precondition_failed');
    expect(listed(await api.listOf('writer'))).toEqual([[id], 1]);
  });
});
