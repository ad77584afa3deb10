import { beforeEach, describe, expect, it } from 'vitest';
import { dataOf } from '../../api.ts';
import { agentOf } from './test-agents.ts';
import { createTestExecutions, type ExecutionsApi, listed, newExecution, newestFirst } from './test-executions.ts';

const { newExecutionsApi } = await createTestExecutions();
let api: ExecutionsApi;
beforeEach(async () => {
  api = await newExecutionsApi();
});

const failing = async () => ({ kind: 'failed', error: 'No.', tokens: 1 }) as const;

/** Creates a running, a completed and a failed execution of an agent. */
async function everyKind(name = 'writer'): Promise<string[]> {
  const ids = [await api.start({}, name), await api.start({}, name), await api.start({}, name)] as const;
  await api.carryOut(ids[1]);
  await api.carryOut(ids[2], failing);
  return [...ids];
}

describe('after the delete of an agent', () => {
  it('its executions are not in the list of all or its totals', async () => {
    await everyKind();
    const others = await everyKind('qa-reviewer');
    expect((await api.agents.delete('writer')).status).toBe(200);
    expect(listed(await api.list())).toEqual([newestFirst(...others), 3]);
    for (const [at, status] of ['running', 'completed', 'failed'].entries())
      expect(listed(await api.list(`status=${status}`))).toEqual([[others[at]], 1]);
    expect(listed(await api.list('offset=3'))).toEqual([[], 3]);
  });

  it('a filter for its name finds none', async () => {
    await everyKind();
    await api.agents.delete('writer');
    for (const query of ['agentName=writer', 'agentName=writer&status=running'])
      expect(listed(await api.list(query))).toEqual([[], 0]);
  });

  it('its own list and each of its executions are 404 not_found', async () => {
    const ids = await everyKind();
    await api.agents.delete('writer');
    await api.refuses(() => api.listOf('writer'), 404, 'not_found');
    for (const id of ids)
      for (const name of ['writer', 'qa-reviewer']) await api.refuses(() => api.get(name, id), 404, 'not_found');
  });

  it('a start of it is 404 not_found', async () => {
    await api.start();
    await api.agents.delete('writer');
    await api.refuses(() => api.execute(newExecution), 404, 'not_found');
  });

  it('a new agent with its name has none of them', async () => {
    const ids = await everyKind();
    await api.agents.delete('writer');
    const { id } = agentOf(await api.agents.create());
    expect(id).toMatch(/^ag_/);
    expect(listed(await api.listOf('writer'))).toEqual([[], 0]);
    for (const one of ids) await api.refuses(() => api.get('writer', one), 404, 'not_found');
    const own = await api.start();
    expect(listed(await api.listOf('writer'))).toEqual([[own], 1]);
    expect(listed(await api.list())).toEqual([[own], 1]);
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

  it("another organization's executions of an agent with its name stay", async () => {
    const other = await newExecutionsApi();
    const id = await other.start();
    await api.start();
    const before = await other.dump();
    await api.agents.delete('writer');
    expect(await other.dump()).toEqual(before);
    expect((await other.execution(id)).status).toBe('running');
  });
});

it('an agent that cannot be deleted keeps its executions', async () => {
  const id = await api.start({}, 'qa-reviewer');
  await api.refuses(() => api.agents.delete('qa-reviewer'), 403, 'system_agent');
  const headers = { 'If-Match': '"7"' };
  const own = await api.start();
  await api.refuses(() => api.agents.delete('writer', { headers }), 412, 'precondition_failed');
  expect(listed(await api.list())).toEqual([newestFirst(own, id), 2]);
  expect(dataOf<{ id: string }>(await api.get('writer', own)).id).toBe(own);
});
