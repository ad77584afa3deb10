import { beforeEach, describe, expect, it } from 'vitest';
import { createTestExecutions, type ExecutionsApi, passing } from './test-executions.ts';

const { newExecutionsApi } = await createTestExecutions();
let api: ExecutionsApi;
beforeEach(async () => {
  api = await newExecutionsApi();
});

const always = ['model', 'qualityGates'];
const startOf = ['id', 'agentName', 'taskId', 'status', 'startedAt'];
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
      id,
      agentName: 'writer',
      status: 'running',
      input: ' What?\n',
      model: 'test.default-model',
      qualityGates: { selfTest: 'pending', qaReview: 'pending' },
    });
  });

  it('that has completed has every field, in the order of the contract', async () => {
    const taskId = await api.tasks.put();
    const id = await api.start({ taskId, context: { tone: 'calm' } });
    await api.carryOut(id, passing('A haiku.'));
    const execution = await api.execution(id);
    expect(Object.keys(execution)).toEqual([...startOf, ...endOf, 'input', 'output', 'tokensUsed', ...always]);
    expect(execution).toMatchObject({
      taskId,
      status: 'completed',
      output: 'A haiku.',
      tokensUsed: 30,
      qualityGates: { selfTest: 'passed', qaReview: 'passed' },
    });
    expect(Object.keys(execution.qualityGates)).toEqual(['selfTest', 'qaReview']);
  });

  it('that has failed has the error, no output and skipped gates', async () => {
    const id = await api.start();
    await api.carryOut(id, async () => ({ kind: 'failed', error: 'The model is not known.', tokens: 7 }));
    const execution = await api.execution(id);
    const fields = ['id', 'agentName', 'status', 'startedAt', ...endOf, 'input', 'tokensUsed', ...always, 'error'];
    expect(Object.keys(execution)).toEqual(fields);
    expect(execution).toMatchObject({
      status: 'failed',
      error: 'The model is not known.',
      tokensUsed: 7,
      qualityGates: { selfTest: 'skipped', qaReview: 'skipped' },
    });
  });

  it('that failed before any model answered has zero tokens', async () => {
    const id = await api.start();
    await api.carryOut(id, async () => ({ kind: 'failed', error: 'No.', tokens: 0 }));
    expect((await api.execution(id)).tokensUsed).toBe(0);
  });

  it('has the whole output, which is stored in several items', async () => {
    const output = '😀é'.repeat(120_000);
    const id = await api.start();
    await api.carryOut(id, passing(output));
    expect((await api.execution(id)).output === output).toBe(true);
  });

  it('has neither the context nor the fields of its worker', async () => {
    const id = await api.start({ context: { secret: 'private' } });
    const unsettled = async () => ({ kind: 'aborted', tokens: 0 }) as const;
    for (const look of [async () => {}, () => api.carryOut(id, unsettled)]) {
      await look();
      const text = JSON.stringify((await api.get('writer', id)).body);
      for (const hidden of ['private', 'claim', 'lease', 'agentId', 'organization', 'due', 'selfTest":"private'])
        expect(text).not.toContain(hidden);
    }
  });

  it('exists for an agent that is inactive', async () => {
    const id = await api.start();
    await api.agents.update('writer', { status: 'inactive' });
    expect((await api.get('writer', id)).status).toBe(200);
  });
});

describe('the read of an execution is rejected with 404 not_found', () => {
  const absent = 'ex_01K00000000000000000000000';

  it.each([
    ['does not exist', absent],
    ['is too short', 'ex_1'],
    ['is in lower case', 'ex_01k00000000000000000000000'],
    ['is the id of a task', 'tk_01K00000000000000000000000'],
    ['is a property of objects', '__proto__'],
    ['is empty', ''],
  ])('for an id that %s', async (_, id) => {
    await api.refuses(() => api.get('writer', id), 404, 'not_found');
  });

  it.each(['absent-agent', 'Writer', 'executions'])('with the path of %s, which is not an agent', async (name) => {
    const id = await api.start();
    await api.refuses(() => api.get(name, id), 404, 'not_found');
  });

  it('with the path of another agent', async () => {
    const id = await api.start();
    await api.refuses(() => api.get('qa-reviewer', id), 404, 'not_found');
    expect((await api.get('writer', id)).status).toBe(200);
  });

  it("for another organization's execution, though the agents have the same name", async () => {
    const id = await (await newExecutionsApi()).start();
    await api.refuses(() => api.get('writer', id), 404, 'not_found');
  });
});

it('the read of an execution rejects a query parameter', async () => {
  const id = await api.start();
  const { details } = await api.refuses(() => api.get('writer', id, { query: 'full=1' }), 400, 'validation_failed');
  expect(details).toMatchObject([{ path: 'full', code: 'unknown_field' }]);
});

it('the read of an execution is rejected with 401 and 403 before the execution is read', async () => {
  await api.refuses(() => api.get('writer', 'ex_1', { token: '' }), 401, 'unauthorized');
  const runner = await newExecutionsApi(['agents:write', 'agents:execute', 'tasks:read']);
  await runner.refuses(() => runner.get('writer', 'ex_1'), 403, 'insufficient_scope');
});
