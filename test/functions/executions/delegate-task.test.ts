import { beforeEach, describe, expect, it } from 'vitest';
import { readExecutionInput } from '../../../lib/table/executions/executions.ts';
import { dataOf, errorOf } from '../../api.ts';
import { newForEachTest } from '../../caller.ts';
import { createTestExecutions, delegationOf, listed, newDelegation } from './test-executions.ts';

const { service, newExecutionsApi } = await createTestExecutions();
const api = newForEachTest(newExecutionsApi);
beforeEach(async () => {
  await api.agents.put({ name: 'reader' });
});

const absent = 'tk_01K00000000000000000000000';
const delegate = (fields: object) => api.delegate({ ...newDelegation, ...fields });
const readTask = (id: string) => api.tasks.getTask({ params: { id } });

describe('a delegation', () => {
  it('returns 200 with exactly delegationId, fromAgent, toAgent and status', async () => {
    const answer = await delegate({ taskId: await api.tasks.put(), context: { tone: 'calm' } });
    expect([answer.status, Object.keys(answer.body)]).toEqual([200, ['success', 'data']]);
    expect(Object.keys(delegationOf(answer))).toEqual(['delegationId', 'fromAgent', 'toAgent', 'status']);
    expect(delegationOf(answer)).toEqual({
      delegationId: expect.stringMatching(/^dl_[0-7][0-9A-HJKMNP-TV-Z]{25}$/),
      fromAgent: 'writer',
      toAgent: 'reader',
      status: 'accepted',
    });
    expect(answer.headers).not.toHaveProperty('ETag');
  });

  it('starts an execution of the other agent immediately, with the exact instruction and context', async () => {
    const instruction = ' Read\r\nit — aloud. 🧭\u0001\n';
    const context = { b: 1, a: [null, { constructor: 'x' }] };
    const { id, ...execution } = await api.startDelegated('writer', 'reader', { instruction, context });
    expect(execution).toMatchObject({ agentName: 'reader', status: 'running', input: instruction });
    expect(execution).not.toHaveProperty('taskId');
    const asked = await readExecutionInput(service, { organization: api.organization, id });
    expect(JSON.stringify(asked)).toBe(JSON.stringify({ input: instruction, context }));
    expect(listed(await api.list())).toEqual([[id], 1]);
    expect(listed(await api.listOf('writer'))).toEqual([[], 0]);
  });

  it('has its id only in the read of its execution, without the chain', async () => {
    const taskId = await api.tasks.put();
    const { id, delegationId = '' } = await api.startDelegated('writer', 'reader', { taskId });
    await api.carryOut(id);
    const ended = await api.get('reader', id);
    expect(Object.keys(dataOf(ended)).at(-1)).toBe('delegationId');
    for (const hidden of ['ancestors', 'depth', 'delegatedBy', 'requestId', 'writer'])
      expect(JSON.stringify(ended.body)).not.toContain(hidden);
    for (const send of [
      () => api.list(),
      () => api.listOf('reader'),
      () => readTask(taskId),
      () => api.tasks.listTasks(),
      () => api.agents.get('reader'),
      () => api.agents.get('writer'),
    ])
      expect(JSON.stringify((await send()).body)).not.toContain(delegationId);
    expect(await api.execution(await api.start())).not.toHaveProperty('delegationId');
  });

  it('can come from an agent that is not active', async () => {
    await api.agents.update('writer', { status: 'inactive' });
    expect(await api.startDelegated('writer', 'reader')).toMatchObject({ status: 'running' });
  });

  it('can go to a new agent with the name of a deleted agent of the chain', async () => {
    const taskId = await api.tasks.put();
    await api.startDelegated('writer', 'reader', { taskId });
    const back = () => api.delegate({ ...newDelegation, toAgent: 'writer', taskId }, { name: 'reader' });
    await api.refuses(back, 409, 'delegation_cycle');
    await api.agents.delete('writer');
    await api.agents.put();
    expect((await back()).status).toBe(200);
  });

  it('and a concurrent delete of its agent leave no execution', async () => {
    const [delegated, deleted] = await Promise.all([api.delegate(), api.agents.delete('reader')]);
    expect(deleted.status).toBe(200);
    expect([undefined, 'unknown_reference']).toContain(errorOf(delegated)?.code);
    expect(listed(await api.list())).toEqual([[], 0]);
  });
});

describe('a delegation is rejected, and nothing is written,', () => {
  it('with 422 unknown_reference with the agent and the task in one response, if both are absent', async () => {
    const send = () => delegate({ toAgent: 'absent-agent', taskId: absent });
    const { details } = await api.refuses(send, 422, 'unknown_reference');
    expect(details).toMatchObject([
      { path: 'toAgent', code: 'not_found', message: expect.stringContaining('absent-agent') },
      { path: 'taskId', code: 'not_found', message: expect.stringContaining(absent) },
    ]);
  });

  it("with 422 unknown_reference for another organization's agent, and its task", async () => {
    const other = await newExecutionsApi();
    await other.agents.put({ name: 'theirs' });
    const taskId = await other.tasks.put();
    const before = await other.dump();
    for (const [path, value] of Object.entries({ toAgent: 'theirs', taskId })) {
      const { details } = await api.refuses(() => delegate({ [path]: value }), 422, 'unknown_reference');
      expect(details).toMatchObject([{ path, code: 'not_found' }]);
    }
    expect(await other.dump()).toEqual(before);
  });

  it('with 422 self_delegation for the same agent', async () => {
    const { details } = await api.refuses(() => delegate({ toAgent: 'writer' }), 422, 'self_delegation');
    expect(details).toMatchObject([{ path: 'toAgent', code: 'invalid_value' }]);
  });
});
