import { describe, expect, it } from 'vitest';
import { environment } from '../../../lib/names/environment.ts';
import { dataOf } from '../../api.ts';
import { newForEachTest } from '../../caller.ts';
import { createTestExecutions, listed, newestFirst, startedOf } from './test-executions.ts';

const cap = 3;
const { newExecutionsApi } = await createTestExecutions({ [environment.runningCap]: String(cap) });
const api = newForEachTest(newExecutionsApi);

const rerun = (id: string) => api.agents.rerunExecution({ params: { name: 'writer', id } });

/** Starts an execution and lets it end. */
async function ended(fields: Record<string, unknown> = {}): Promise<string> {
  const id = await api.start(fields);
  await api.carryOut(id);
  return id;
}

describe('the rerun of an execution', () => {
  it('responds as a start does, and the new execution has the same input and task', async () => {
    const taskId = await api.tasks.put();
    const id = await ended({ input: ' What?\n', taskId, context: { tone: 'calm' } });
    const before = await api.execution(id);
    const answer = await rerun(id);
    const { executionId, ...started } = startedOf(answer);
    expect([answer.status, started]).toEqual([
      200,
      { agentName: 'writer', status: 'running', startedAt: expect.any(String) },
    ]);
    expect(await api.execution(executionId)).toMatchObject({ input: ' What?\n', taskId, status: 'running' });
    expect(await api.execution(id)).toEqual(before);
    expect(listed(await api.listOf('writer'))).toEqual([newestFirst(id, executionId), 2]);
    const inputs = Object.values(await api.dump()).filter((item) => 'context' in (item as object));
    expect(inputs).toMatchObject(Array(2).fill({ input: ' What?\n', context: '{"tone":"calm"}' }));
  });

  it('leads to the errors of a start, in their order, and changes nothing', async () => {
    const deleted = await api.tasks.put();
    const dependency = await api.tasks.put();
    const blocked = await api.tasks.put();
    const ofDeleted = await ended({ taskId: deleted });
    const ofBlocked = await ended({ taskId: blocked });
    const free = await ended();
    expect((await api.tasks.deleteTask({ params: { id: deleted } })).status).toBe(200);
    const body = { dependsOn: [dependency] };
    expect((await api.tasks.updateTask({ params: { id: blocked }, body })).status).toBe(200);
    const errors = [];
    await api.agents.update('writer', { status: 'inactive' });
    errors.push(await api.refuses(() => rerun(ofDeleted), 422, 'unknown_reference'));
    await api.refuses(() => rerun(ofBlocked), 409, 'agent_not_active');
    await api.agents.update('writer', { status: 'active' });
    await api.refuses(() => rerun(ofBlocked), 409, 'task_blocked');
    for (let count = 0; count < cap; count++) await rerun(free);
    await api.refuses(() => rerun(free), 429, 'rate_limited');
    expect(errors).toMatchObject([{ details: [{ path: 'taskId', code: 'not_found' }] }]);
    expect(dataOf(await api.list('status=running'))).toHaveLength(cap);
  });
});
