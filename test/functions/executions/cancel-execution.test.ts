import { describe, expect, it } from 'vitest';
import type { AgentMetrics } from '../../../lib/contract/agents/agent-metrics.ts';
import type { Execution } from '../../../lib/contract/executions/executions.ts';
import { ulidOf } from '../../../lib/contract/ids.ts';
import { keys } from '../../../lib/table/access/keys.ts';
import { transact } from '../../../lib/table/access/transact.ts';
import { dataOf } from '../../api.ts';
import { newForEachTest } from '../../caller.ts';
import { createTestExecutions, listed } from './test-executions.ts';

const { service, newExecutionsApi } = await createTestExecutions();
const api = newForEachTest(newExecutionsApi);

const cancel = (id: string, name = 'writer') => api.agents.cancelExecution({ params: { name, id } });
const taskOf = async (id: string) => dataOf(await api.tasks.getTask({ params: { id } }));

describe('the cancellation of an execution', () => {
  it('responds with the execution as it has ended, and stays its end', async () => {
    const taskId = await api.tasks.put();
    const id = await api.start({ taskId, input: ' What?\n' });
    const answer = await cancel(id);
    expect([answer.status, Object.keys(answer.body)]).toEqual([200, ['success', 'data']]);
    expect(dataOf(answer)).toMatchObject({
      ...{ id, agentName: 'writer', taskId, status: 'failed', error: 'cancelled', input: ' What?\n', tokensUsed: 0 },
      qualityGates: { selfTest: 'skipped', qaReview: 'skipped' },
    });
    expect(dataOf(answer)).toEqual(await api.execution(id));
    await api.carryOut(id);
    expect(await api.execution(id)).toEqual(dataOf(answer));
  });

  it('is in the lists, in the number of running executions and in the metrics, as a failure', async () => {
    const [id, stays] = [await api.start(), await api.start()];
    const { completedAt, durationMs } = dataOf<Execution>(await cancel(id));
    expect(listed(await api.listOf('writer', 'status=failed'))).toEqual([[id], 1]);
    expect(listed(await api.list('status=running'))).toEqual([[stays], 1]);
    expect(dataOf(await api.list('status=failed'))).toMatchObject([{ id, completedAt, durationMs }]);
    const { executions, tokens } = dataOf<AgentMetrics>(await api.agents.getMetrics({ params: { name: 'writer' } }));
    expect(executions).toEqual({ total: 2, completed: 0, failed: 1, running: 1, successRate: 0 });
    expect(tokens.total).toBe(0);
  });

  it('moves its task to assigned, keeps the agent of the task, and lets another execution take it', async () => {
    const taskId = await api.tasks.put();
    await cancel(await api.start({ taskId }));
    expect(await taskOf(taskId)).toMatchObject({ status: 'assigned', assignedAgent: 'writer' });
    await api.carryOut(await api.start({ taskId }));
    expect(await taskOf(taskId)).toMatchObject({ status: 'up_for_review' });
  });

  it('leaves a task that a person has moved, that another execution has, or that was deleted', async () => {
    const [moved, shared, deleted] = [await api.tasks.put(), await api.tasks.put(), await api.tasks.put()];
    const first = await api.start({ taskId: moved });
    await api.tasks.updateTask({ params: { id: moved }, body: { status: 'done' } });
    await api.start({ taskId: shared });
    const second = await api.start({ taskId: shared });
    const third = await api.start({ taskId: deleted });
    await api.tasks.deleteTask({ params: { id: deleted } });
    const before = [await taskOf(moved), await taskOf(shared)];
    for (const id of [first, second, third]) expect((await cancel(id)).status).toBe(200);
    expect([await taskOf(moved), await taskOf(shared)]).toEqual(before);
  });

  describe('of what it has delegated', () => {
    /** Starts an execution of `writer` that has delegated one to `reader`, as its steps would store it. */
    async function startPair(): Promise<[string, string]> {
      const id = await api.start();
      await api.agents.put({ name: 'reader' });
      const { id: delegated } = await api.startDelegated('writer', 'reader');
      const set = (execution: string, field: string, value: unknown) => {
        const Key = keys.executionHead(api.organization, ulidOf(execution));
        const update = { UpdateExpression: `SET ${field} = :value`, ExpressionAttributeValues: { ':value': value } };
        return transact(service.table, [{ Update: { Key, ...update } }]);
      };
      await set(id, 'steps', 1);
      await set(delegated, 'delegatedIn', [id]);
      return [id, delegated];
    }

    const errorOf = async (id: string) => (await api.execution(id, 'reader')).error;

    it.each([undefined, {}, { delegated: true }])('is part of it for the body %j', async (body) => {
      const [id, delegated] = await startPair();
      const answer = await api.agents.cancelExecution({ params: { name: 'writer', id }, ...(body && { body }) });
      expect([answer.status, await errorOf(delegated)]).toEqual([200, 'cancelled']);
    });

    it('is not part of it if delegated is false', async () => {
      const [id, delegated] = await startPair();
      const body = { delegated: false };
      const answer = await api.agents.cancelExecution({ params: { name: 'writer', id }, body });
      expect([answer.status, await errorOf(delegated)]).toEqual([200, undefined]);
    });

    it.each([{ delegated: 'no' }, { delegated: null }, { children: false }])(
      'is rejected for the body %j',
      async (body) => {
        const id = await api.start();
        const before = await api.dump();
        const asked = { params: { name: 'writer', id }, body };
        await api.refuses(() => api.agents.cancelExecution(asked as never), 400, 'validation_failed');
        expect(await api.dump()).toEqual(before);
      },
    );
  });

  it('leads to 409 execution_finished for an execution that has ended, which stays as it is', async () => {
    const [completed, failed, cancelled] = [await api.start(), await api.start(), await api.start()];
    await api.carryOut(completed);
    await api.carryOut(failed, async () => ({ kind: 'failed', error: 'No.', tokens: 0 }));
    await cancel(cancelled);
    for (const [id, status] of [
      [completed, 'completed'],
      [failed, 'failed'],
      [cancelled, 'failed'],
    ] as const) {
      const before = await api.dump();
      expect(await api.refuses(() => cancel(id), 409, 'execution_finished')).toMatchObject({
        message: `The execution ${id} has ended as ${status}; only a running execution can be cancelled.`,
      });
      expect(await api.dump()).toEqual(before);
    }
  });
});
