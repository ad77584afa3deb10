import { beforeEach, describe, expect, it } from 'vitest';
import { createTestExecutions, type ExecutionsApi, passing } from './test-executions.ts';

const { newExecutionsApi } = await createTestExecutions();
let api: ExecutionsApi;
beforeEach(async () => {
  api = await newExecutionsApi();
});

const always = ['model', 'qualityGates'];
const endOf = ['completedAt', 'durationMs'];

describe('the read of an execution', () => {
  it('that is running has no end, no output and no tokens, and its gates are pending', async () => {
    const id = await api.start({ input: ' What?\n' });
    const answer = await api.get('writer', id);
    expect([answer.status, Object.keys(answer.body)]).toEqual([200, ['success', 'data']]);
    expect(answer.headers).not.toHaveProperty('ETag');
    const execution = await api.execution(id);
    expect(Object.keys(execution)).toEqual(['id', 'agentName', 'status', 'startedAt', 'input', ...always]);
    expect(execution).toMatchObject({
      ...{ id, agentName: 'writer', status: 'running', input: ' What?\n', model: 'test.default-model' },
      qualityGates: { selfTest: 'pending', qaReview: 'pending' },
    });
  });

  it('that has completed has every field, in the order of the contract', async () => {
    const taskId = await api.tasks.put();
    const id = await api.start({ taskId, context: { tone: 'calm' } });
    await api.carryOut(id, passing('A haiku.'));
    const execution = await api.execution(id);
    const startOf = ['id', 'agentName', 'taskId', 'status', 'startedAt'];
    expect(Object.keys(execution)).toEqual([
      ...startOf,
      ...endOf,
      'input',
      'output',
      'tokensUsed',
      ...always,
      'gateReasons',
    ]);
    expect(execution).toMatchObject({
      ...{ taskId, status: 'completed', output: 'A haiku.', tokensUsed: 30 },
      qualityGates: { selfTest: 'passed', qaReview: 'passed' },
      gateReasons: { selfTest: 'VERDICT: PASS', qaReview: 'VERDICT: PASS' },
    });
  });

  it('that has failed has the error, its tokens, even none, no output and skipped gates', async () => {
    const id = await api.start();
    await api.carryOut(id, async () => ({ kind: 'failed', error: 'The model is not known.', tokens: 0 }));
    const execution = await api.execution(id);
    const fields = ['id', 'agentName', 'status', 'startedAt', ...endOf, 'input', 'tokensUsed', ...always, 'error'];
    expect(Object.keys(execution)).toEqual(fields);
    expect(execution).toMatchObject({
      ...{ status: 'failed', error: 'The model is not known.', tokensUsed: 0 },
      qualityGates: { selfTest: 'skipped', qaReview: 'skipped' },
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
