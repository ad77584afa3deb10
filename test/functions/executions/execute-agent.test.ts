import { describe, expect, it } from 'vitest';
import { readExecutionInput } from '../../../lib/table/executions/executions.ts';
import { newForEachTest } from '../../caller.ts';
import { createTestExecutions, newExecution, startedOf } from './test-executions.ts';

const { service, newExecutionsApi } = await createTestExecutions();
const api = newForEachTest(newExecutionsApi);

const absent = 'tk_01K00000000000000000000000';
const onTask = (taskId: string) => api.execute({ ...newExecution, taskId });

describe('a start', () => {
  it('returns 200 with exactly executionId, agentName, status and startedAt', async () => {
    const taskId = await api.tasks.put();
    const answer = await api.execute({ ...newExecution, taskId, context: { tone: 'calm' } });
    expect([answer.status, Object.keys(answer.body)]).toEqual([200, ['success', 'data']]);
    expect(Object.keys(startedOf(answer))).toEqual(['executionId', 'agentName', 'status', 'startedAt']);
    expect(startedOf(answer)).toEqual({
      executionId: expect.stringMatching(/^ex_[0-7][0-9A-HJKMNP-TV-Z]{25}$/),
      agentName: 'writer',
      status: 'running',
      startedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    expect(answer.headers).not.toHaveProperty('ETag');
  });

  it('uses the current model of its agent', async () => {
    const first = await api.start();
    await api.agents.update('writer', { model: 'another.model' });
    const second = await api.start();
    expect((await api.execution(second)).model).toBe('another.model');
    expect((await api.execution(first)).model).not.toBe('another.model');
  });

  it.each([
    ['the longest input that a body can contain', { input: 'é'.repeat(100_000) }],
    ['the largest context', { input: 'x', context: { a: 'x'.repeat(65_528) } }],
  ])('passes %s to its worker', async (_, body) => {
    const id = await api.start(body);
    const { organization } = api;
    expect(JSON.stringify(await readExecutionInput(service, { organization, id }))).toBe(JSON.stringify(body));
    expect((await api.execution(id)).input).toBe(body.input);
  });
});

it.each([
  ['{"a":1,"__proto__":{"b":1}}', '{"a":1,"__proto__":{"b":2}}'],
  ['{"a":[1,2]}', '{"a":[2,1]}'],
  ['{"a":1}', '{"a":"1"}'],
])('under an Idempotency-Key a start with the context %s is not a duplicate of one with %s', async (one, other) => {
  const headers = { 'Idempotency-Key': 'key' };
  const send = (context: string) => api.execute(`{"input":"x","context":${context}}`, { headers });
  expect((await send(one)).status).toBe(200);
  await api.refuses(() => send(other), 422, 'idempotency_key_reused');
});

it('keeps the numbers of a context as JSON has them', async () => {
  const context = '{"a":[9007199254740991,1.5,1e+21,-1e-7],"b":"9007199254740993"}';
  const id = startedOf(await api.execute(`{"input":"x","context":${context}}`)).executionId;
  const stored = await readExecutionInput(service, { organization: api.organization, id });
  expect(JSON.stringify(stored?.context)).toBe(context);
});

describe('a start is rejected, and nothing is written,', () => {
  it('with 400 validation_failed for numbers of the context that JSON does not keep', async () => {
    const context = '{"a":{"b":[1,9007199254740993]},"c":-1e999,"d":1.0}';
    for (const send of [
      () => api.execute(`{"input":"x","context":${context}}`),
      () => api.delegate(`{"toAgent":"qa-reviewer","instruction":"x","context":${context}}`),
    ]) {
      const { details } = await api.refuses(send, 400, 'validation_failed');
      expect(details?.map(({ path, code }) => [path, code])).toEqual([
        ['context.a.b.1', 'invalid_value'],
        ['context.c', 'invalid_value'],
      ]);
      expect(details?.[0]?.message).toBe(
        'context.a.b.1 is a number beyond ±9,007,199,254,740,991, which JSON does not keep; send it as a string',
      );
    }
  });

  it('with 422 unknown_reference at taskId for an absent task', async () => {
    const { details } = await api.refuses(() => onTask(absent), 422, 'unknown_reference');
    expect(details).toMatchObject([{ path: 'taskId', code: 'not_found', message: expect.stringContaining(absent) }]);
  });

  it("with 422 unknown_reference at taskId for another organization's task, which does not change", async () => {
    const other = await newExecutionsApi();
    const taskId = await other.tasks.put();
    const before = await other.dump();
    await api.refuses(() => onTask(taskId), 422, 'unknown_reference');
    expect(await other.dump()).toEqual(before);
  });

  it.each(['inactive', 'draft'])('with 409 agent_not_active for an agent that is %s, until it is', async (status) => {
    await api.agents.update('writer', { status });
    const { message } = await api.refuses(() => api.execute(), 409, 'agent_not_active');
    expect(message).toContain(`writer is ${status}`);
    await api.agents.update('writer', { status: 'active' });
    expect((await api.execute()).status).toBe(200);
  });

  it('with 409 task_blocked for a task that depends on one that is not done, until it is', async () => {
    const blocker = await api.tasks.put({ status: 'up_for_review' });
    const taskId = await api.tasks.put({ status: 'done', dependsOn: [blocker] });
    const { details } = await api.refuses(() => onTask(taskId), 409, 'task_blocked');
    expect(details).toEqual([{ path: 'blockedBy.0', code: 'blocking', message: `${blocker} is up_for_review.` }]);
    await api.tasks.updateTask({ params: { id: blocker }, body: { status: 'done' } });
    expect((await onTask(taskId)).status).toBe(200);
  });

  it('with 409 task_blocked with at most 20 blocking tasks, and none that is done', async () => {
    const done = await api.tasks.put({ status: 'done' });
    const blockers = await Promise.all(Array.from({ length: 24 }, () => api.tasks.put()));
    const taskId = await api.tasks.put({ dependsOn: [done, ...blockers] });
    const { details = [], message } = await api.refuses(() => onTask(taskId), 409, 'task_blocked');
    expect(message).toContain('24 others');
    expect(details).toHaveLength(20);
    for (const { message: named } of details) expect(blockers).toContain(named.split(' ')[0]);
  });
});
