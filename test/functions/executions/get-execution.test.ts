import { describe, expect, it } from 'vitest';
import { hashOf } from '../../../lib/table/agents/agent-items.ts';
import { dataOf } from '../../api.ts';
import { newForEachTest } from '../../caller.ts';
import { defaultModel } from '../agents/test-agents.ts';
import { createTestExecutions, listed, passing } from './test-executions.ts';

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
      'id agentName taskId status startedAt completedAt durationMs stepCount tokensUsed qualityGates startedBy input context output model promptHash gateReasons';
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

  it('has the context as it was sent, with the order of its keys, while it runs and after its end', async () => {
    const context = JSON.parse(
      '{"z":[1.5,-0.25,9007199254740991,null],"a":{"y":true,"constructor":"é","x":{}},"__proto__":{"b":1},"":"😀"}',
    );
    const id = await api.start({ context });
    expect(JSON.stringify((await api.execution(id)).context)).toBe(JSON.stringify(context));
    await api.carryOut(id, passing('A haiku.'));
    expect(JSON.stringify((await api.execution(id)).context)).toBe(JSON.stringify(context));
  });

  it('has no context if none was sent, and an empty one if that was sent', async () => {
    expect(await api.execution(await api.start())).not.toHaveProperty('context');
    expect(await api.execution(await api.start({ context: {} }))).toMatchObject({ context: {} });
  });

  it('alone has the context: lists have none', async () => {
    const id = await api.start({ context: { tone: 'private' } });
    for (const answer of [await api.list('include=results,subject'), await api.listOf('writer')]) {
      expect(listed(answer)).toEqual([[id], 1]);
      expect(JSON.stringify(answer.body)).not.toContain('private');
    }
  });

  it('has no fields of its worker', async () => {
    const id = await api.start();
    const textOf = async () => JSON.stringify((await api.get('writer', id)).body);
    const started = await textOf();
    await api.carryOut(id, async () => ({ kind: 'aborted', tokens: 0 }));
    for (const text of [started, await textOf()])
      for (const hidden of ['claim', 'lease', 'agentId', 'organization', 'due']) expect(text).not.toContain(hidden);
  });
});

it("another organization's execution is not found, though the agents have the same name", async () => {
  const id = await (await newExecutionsApi()).start();
  await api.refuses(() => api.get('writer', id), 404, 'not_found');
});
