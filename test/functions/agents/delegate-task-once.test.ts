import { beforeEach, describe, expect, it } from 'vitest';
import { sendConcurrently } from './test-agents.ts';
import { createTestExecutions, type ExecutionsApi, listed, newDelegation } from './test-executions.ts';

const { newExecutionsApi } = await createTestExecutions(3);
let api: ExecutionsApi;
beforeEach(async () => {
  api = await newExecutionsApi();
  await api.agents.put({ name: 'reader' });
});

const headers = { 'Idempotency-Key': 'key' };
const delegate = (fields: object = {}, name = 'writer') =>
  api.delegate({ ...newDelegation, ...fields }, { headers, name });

describe('a delegation under an Idempotency-Key', () => {
  it('sent ten times concurrently, above the cap, starts one execution and gets ten equal responses', async () => {
    const taskId = await api.tasks.put();
    const answers = await sendConcurrently(10, () => delegate({ taskId }));
    expect(new Set(answers.map(({ status, body }) => JSON.stringify([status, body]))).size).toBe(1);
    expect(answers[0]?.status).toBe(200);
    expect(answers.filter((answer) => answer.headers['Idempotency-Replayed'] === 'true')).toHaveLength(9);
    expect(listed(await api.list())[1]).toBe(1);
    expect((await api.tasks.getTask({ params: { id: taskId } })).headers.ETag).toBe('"2"');
  });

  it('sent ten times concurrently below the cap by one gets one response', async () => {
    await Promise.all([api.start(), api.start()]);
    const answers = await sendConcurrently(10, () => delegate());
    expect(new Set(answers.map(({ status, body }) => JSON.stringify([status, body]))).size).toBe(1);
    expect(answers[0]?.status).toBe(200);
  });

  it('is replayed after its execution has ended and after both agents are deleted', async () => {
    const first = await delegate();
    const [[id = '']] = listed(await api.listOf('reader'));
    await api.carryOut(id);
    expect((await delegate()).body).toEqual(first.body);
    for (const name of ['reader', 'writer']) await api.agents.delete(name);
    expect((await delegate()).body).toEqual(first.body);
  });

  it('is replayed though a new delegation would be rejected', async () => {
    const taskId = await api.tasks.put();
    const first = await delegate({ taskId });
    await api.startDelegated('reader', 'qa-reviewer', { taskId });
    await api.startDelegated('qa-reviewer', 'prompt-improver', { taskId });
    await api.refuses(() => api.delegate({ ...newDelegation, taskId }), 429, 'rate_limited');
    expect((await delegate({ taskId })).body).toEqual(first.body);
  });

  it.each([
    ['toAgent', { toAgent: 'qa-reviewer' }],
    ['instruction', { instruction: 'Read it in silence.' }],
    ['context', { context: {} }],
    ['task', { taskId: 'tk_01K00000000000000000000000' }],
  ])('is rejected with 422 idempotency_key_reused for another %s', async (_, fields) => {
    await delegate();
    await api.refuses(() => delegate(fields), 422, 'idempotency_key_reused');
  });

  it('is rejected with 422 idempotency_key_reused from another agent, even an absent one', async () => {
    await delegate();
    for (const name of ['qa-reviewer', 'absent-agent'])
      await api.refuses(() => delegate({}, name), 422, 'idempotency_key_reused');
  });
});

describe('a rejected delegation leaves its Idempotency-Key free', () => {
  it('with 422, until the agent exists', async () => {
    await api.refuses(() => delegate({ toAgent: 'later' }), 422, 'unknown_reference');
    await api.agents.put({ name: 'later' });
    expect((await delegate({ toAgent: 'later' })).headers).not.toHaveProperty('Idempotency-Replayed');
  });

  it('with 409, until the chain has ended', async () => {
    const taskId = await api.tasks.put();
    const { id } = await api.startDelegated('reader', 'writer', { taskId });
    await api.refuses(() => delegate({ taskId }), 409, 'delegation_cycle');
    await api.carryOut(id);
    expect((await delegate({ taskId })).status).toBe(200);
  });

  it('with 429, until there is capacity', async () => {
    const [id] = await Promise.all([api.start(), api.start(), api.start()]);
    await api.refuses(() => delegate(), 429, 'rate_limited');
    await api.carryOut(id);
    expect((await delegate()).status).toBe(200);
  });
});
