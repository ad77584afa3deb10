import { describe, expect, it } from 'vitest';
import { hashOf } from '../../../lib/table/agents/agent-items.ts';
import { dataOf } from '../../api.ts';
import { newForEachTest } from '../../caller.ts';
import { defaultModel } from './test-agents.ts';
import { createTestExecutions, passing } from './test-executions.ts';

const { newExecutionsApi } = await createTestExecutions();
const api = newForEachTest(newExecutionsApi);

describe('the read of an execution', () => {
  it('that is running has exactly the fields of its start', async () => {
    const id = await api.start({ input: ' What?\n' });
    const answer = await api.get('writer', id);
    expect([answer.status, Object.keys(answer.body)]).toEqual([200, ['success', 'data']]);
    expect(answer.headers).not.toHaveProperty('ETag');
    const qualityGates = { selfTest: 'pending', qaReview: 'pending' };
    const started = { id, agentName: 'writer', status: 'running', startedAt: expect.any(String), input: ' What?\n' };
    expect(dataOf(answer)).toEqual({
      ...started,
      model: defaultModel,
      startedBy: { kind: 'request' },
      promptHash: hashOf(''),
      qualityGates,
      stepCount: 0,
    });
  });

  it('that has completed has every field, in the order of the contract', async () => {
    const taskId = await api.tasks.put();
    const id = await api.start({ taskId, context: { tone: 'calm' } });
    await api.carryOut(id, passing('A haiku.'));
    const execution = await api.execution(id);
    const fields =
      'id agentName taskId status startedAt completedAt durationMs stepCount tokensUsed qualityGates startedBy input output model promptHash gateReasons';
    expect(Object.keys(execution)).toEqual(fields.split(' '));
    expect(execution).toMatchObject({
      ...{ taskId, status: 'completed', output: 'A haiku.', tokensUsed: 30 },
      qualityGates: { selfTest: 'passed', qaReview: 'passed' },
      gateReasons: { selfTest: 'VERDICT: PASS', qaReview: 'VERDICT: PASS' },
    });
  });

  it('has the whole output, which is stored in several items', async () => {
    const output = '😀é'.repeat(120_000);
    const id = await api.start();
    await api.carryOut(id, passing(output));
    expect((await api.execution(id)).output === output).toBe(true);
  });

  it('has neither the context nor the fields of its worker', async () => {
    const id = await api.start({ context: { secret: 'private' } });
    const textOf = async () => JSON.stringify((await api.get('writer', id)).body);
    const started = await textOf();
    await api.carryOut(id, async () => ({ kind: 'aborted', tokens: 0 }));
    for (const text of [started, await textOf()])
      for (const hidden of ['private', 'claim', 'lease', 'agentId', 'organization', 'due'])
        expect(text).not.toContain(hidden);
  });
});

it("another organization's execution is not found, though the agents have the same name", async () => {
  const id = await (await newExecutionsApi()).start();
  await api.refuses(() => api.get('writer', id), 404, 'not_found');
});
