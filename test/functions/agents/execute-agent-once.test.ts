import { beforeEach, describe, expect, it } from 'vitest';
import { dataOf } from '../../api.ts';
import { createTestExecutions, type ExecutionsApi, listed, newExecution, startedOf } from './test-executions.ts';

const { newExecutionsApi } = await createTestExecutions();
let api: ExecutionsApi;
beforeEach(async () => {
  api = await newExecutionsApi();
});

const headers = { 'Idempotency-Key': 'key' };
const execute = (fields: Record<string, unknown> = {}, name = 'writer') =>
  api.execute({ ...newExecution, ...fields }, { headers, name });

describe('a start under an Idempotency-Key', () => {
  it('sent concurrently with two inputs is accepted for one and rejected for the other', async () => {
    const answers = await Promise.all([execute(), execute({ input: 'Write a sonnet.' })]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 422]);
    expect(listed(await api.list())[1]).toBe(1);
  });

  it('is replayed after the execution has ended', async () => {
    const first = await execute();
    await api.carryOut(startedOf(first).executionId);
    expect((await api.execution(startedOf(first).executionId)).status).toBe('completed');
    expect((await execute()).body).toEqual(first.body);
  });

  it.each([
    ['input', { input: 'Write a sonnet.' }],
    ['context', { context: {} }],
    ['task', { taskId: 'tk_01K00000000000000000000000' }],
  ])('is rejected with 422 idempotency_key_reused for another %s', async (_, fields) => {
    await execute();
    await api.refuses(() => execute(fields), 422, 'idempotency_key_reused');
  });

  it.each([
    ['{"a":1,"__proto__":{"b":1}}', '{"a":1,"__proto__":{"b":2}}'],
    ['{"a":[1,2]}', '{"a":[2,1]}'],
    ['{"a":1}', '{"a":"1"}'],
  ])('distinguishes a context of %s from %s', async (one, other) => {
    const send = (context: string) => api.execute(`{"input":"x","context":${context}}`, { headers });
    expect((await send(one)).status).toBe(200);
    await api.refuses(() => send(other), 422, 'idempotency_key_reused');
    expect((await send(one)).headers['Idempotency-Replayed']).toBe('true');
  });

  it('is rejected with 422 idempotency_key_reused for another agent, even an absent one', async () => {
    await execute();
    for (const name of ['qa-reviewer', 'absent-agent'])
      await api.refuses(() => execute({}, name), 422, 'idempotency_key_reused');
  });

  it('stores neither the key nor the input in its record', async () => {
    await api.execute({ input: 'private-input' }, { headers: { 'Idempotency-Key': 'private-key' } });
    const records = Object.values(await api.dump()).filter((item) => 'fingerprint' in (item as object));
    expect(records).toHaveLength(1);
    expect(JSON.stringify(records)).not.toContain('private');
  });
});

describe('a rejected start leaves its Idempotency-Key free', () => {
  it('with 404, until the agent exists', async () => {
    await api.refuses(() => execute({}, 'later'), 404, 'not_found');
    await api.agents.put({ name: 'later' });
    expect((await execute({}, 'later')).headers).not.toHaveProperty('Idempotency-Replayed');
  });

  it('with 422, for another task', async () => {
    await api.refuses(() => execute({ taskId: 'tk_01K00000000000000000000000' }), 422, 'unknown_reference');
    expect((await execute({ taskId: await api.tasks.put() })).status).toBe(200);
  });

  it('with 409, until the agent is active', async () => {
    await api.agents.update('writer', { status: 'draft' });
    await api.refuses(() => execute(), 409, 'agent_not_active');
    await api.agents.update('writer', { status: 'active' });
    expect((await execute()).status).toBe(200);
  });

  it('with 409, until the task is no longer blocked', async () => {
    const blocker = await api.tasks.put();
    const taskId = await api.tasks.put({ dependsOn: [blocker] });
    await api.refuses(() => execute({ taskId }), 409, 'task_blocked');
    expect(dataOf(await api.tasks.updateTask({ params: { id: blocker }, body: { status: 'done' } })).status).toBe(
      'done',
    );
    expect((await execute({ taskId })).status).toBe(200);
  });
});
