import { beforeEach, describe, expect, it } from 'vitest';
import { errorOf } from '../../api.ts';
import { sendConcurrently } from './test-agents.ts';
import { createTestExecutions, type ExecutionsApi, listed, newExecution, startedOf } from './test-executions.ts';

const { newExecutionsApi } = await createTestExecutions();
let api: ExecutionsApi;
beforeEach(async () => {
  api = await newExecutionsApi();
});

const absent = 'tk_01K00000000000000000000000';

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

  it('is in both lists and in the single read immediately', async () => {
    const id = await api.start();
    for (const answer of [await api.list('status=running'), await api.listOf('writer')])
      expect(listed(answer)).toEqual([[id], 1]);
    expect(await api.execution(id)).toMatchObject({ id, status: 'running' });
  });

  it('belongs to its agent, also a system agent', async () => {
    const id = await api.start({}, 'qa-reviewer');
    expect(listed(await api.listOf('qa-reviewer'))).toEqual([[id], 1]);
    expect(listed(await api.listOf('writer'))).toEqual([[], 0]);
  });

  it('uses the current model of its agent', async () => {
    const first = await api.start();
    await api.agents.update('writer', { model: 'another.model' });
    const second = await api.start();
    expect((await api.execution(second)).model).toBe('another.model');
    expect((await api.execution(first)).model).not.toBe('another.model');
  });

  it('without a task changes no task', async () => {
    const taskId = await api.tasks.put({ assignedAgent: 'writer' });
    const before = await api.tasks.getTask({ params: { id: taskId } });
    await api.start();
    expect((await api.tasks.getTask({ params: { id: taskId } })).body).toEqual(before.body);
  });
});

describe('a start is rejected, and nothing is written,', () => {
  it.each([
    ['an absent agent', 'absent-agent'],
    ['an invalid name', 'Writer'],
    ['a name that is too long', 'x'.repeat(65)],
    ['a segment of a path', 'executions'],
    ['a property of objects', '__proto__'],
  ])('with 404 not_found for %s', async (_, name) => {
    await api.refuses(() => api.execute(newExecution, { name }), 404, 'not_found');
  });

  it("with 404 not_found for another organization's agent", async () => {
    const other = await newExecutionsApi();
    await other.agents.put({ name: 'theirs' });
    const before = await other.dump();
    await api.refuses(() => api.execute(newExecution, { name: 'theirs' }), 404, 'not_found');
    expect(await other.dump()).toEqual(before);
  });

  it('with 422 unknown_reference at taskId for an absent task', async () => {
    const { details } = await api.refuses(
      () => api.execute({ ...newExecution, taskId: absent }),
      422,
      'unknown_reference',
    );
    expect(details).toMatchObject([{ path: 'taskId', code: 'not_found', message: expect.stringContaining(absent) }]);
  });

  it("with 422 unknown_reference at taskId for another organization's task", async () => {
    const other = await newExecutionsApi();
    const taskId = await other.tasks.put();
    const before = await other.dump();
    const { details } = await api.refuses(() => api.execute({ ...newExecution, taskId }), 422, 'unknown_reference');
    expect(details).toMatchObject([{ path: 'taskId', code: 'not_found' }]);
    expect(await other.dump()).toEqual(before);
  });

  it('with 422 unknown_reference for a task that was deleted', async () => {
    const taskId = await api.tasks.put();
    await api.tasks.deleteTask({ params: { id: taskId } });
    await api.refuses(() => api.execute({ ...newExecution, taskId }), 422, 'unknown_reference');
  });

  it.each(['inactive', 'draft'])('with 409 agent_not_active for an agent that is %s', async (status) => {
    await api.agents.update('writer', { status });
    const { message } = await api.refuses(() => api.execute(), 409, 'agent_not_active');
    expect(message).toContain(`writer is ${status}`);
    await api.agents.update('writer', { status: 'active' });
    expect((await api.execute()).status).toBe(200);
  });

  it.each(['backlog', 'assigned', 'in_progress', 'qa_review', 'up_for_review'])(
    'with 409 task_blocked for a task that depends on one in %s',
    async (status) => {
      const blocker = await api.tasks.put({ status });
      const taskId = await api.tasks.put({ dependsOn: [blocker] });
      const { details } = await api.refuses(() => api.execute({ ...newExecution, taskId }), 409, 'task_blocked');
      expect(details).toEqual([{ path: 'blockedBy.0', code: 'blocking', message: `${blocker} is ${status}.` }]);
    },
  );

  it('with 409 task_blocked with at most 20 blocking tasks, and none that is done', async () => {
    const done = await api.tasks.put({ status: 'done' });
    const blockers = await Promise.all(Array.from({ length: 24 }, () => api.tasks.put()));
    const taskId = await api.tasks.put({ dependsOn: [done, ...blockers] });
    const { details = [], message } = await api.refuses(
      () => api.execute({ ...newExecution, taskId }),
      409,
      'task_blocked',
    );
    expect(message).toContain('24 others');
    expect(details).toHaveLength(20);
    for (const { message: named } of details) expect(blockers).toContain(named.split(' ')[0]);
  });

  it('until the blocking task is done', async () => {
    const blocker = await api.tasks.put();
    const taskId = await api.tasks.put({ dependsOn: [blocker] });
    expect(errorOf(await api.execute({ ...newExecution, taskId })).code).toBe('task_blocked');
    await api.tasks.updateTask({ params: { id: blocker }, body: { status: 'done' } });
    expect((await api.execute({ ...newExecution, taskId })).status).toBe(200);
  });

  it('with 409 task_blocked for a task that is done and depends on others', async () => {
    const taskId = await api.tasks.put({ status: 'done', dependsOn: [await api.tasks.put()] });
    await api.refuses(() => api.execute({ ...newExecution, taskId }), 409, 'task_blocked');
  });

  it('with 403 insufficient_scope for a token with all scopes except agents:execute', async () => {
    const scopes = ['agents:read', 'agents:write', 'tasks:read', 'tasks:write', 'webhooks:write'] as const;
    const writer = await newExecutionsApi(scopes);
    await writer.agents.put();
    const { message } = await writer.refuses(() => writer.execute(), 403, 'insufficient_scope');
    expect(message).toContain('agents:execute');
  });
});

it('a token with only agents:execute starts an execution, and reads none', async () => {
  const runner = await newExecutionsApi(['agents:execute']);
  const answer = await runner.execute(newExecution, { name: 'qa-reviewer' });
  expect(answer.status).toBe(200);
  const { executionId } = startedOf(answer);
  for (const send of [
    () => runner.list(),
    () => runner.listOf('qa-reviewer'),
    () => runner.get('qa-reviewer', executionId),
  ])
    await runner.refuses(send, 403, 'insufficient_scope');
});

it('of 56 concurrent starts 50 run, and six are rejected with 429 rate_limited and Retry-After', async () => {
  const answers = await sendConcurrently(56, () => api.execute());
  const refused = answers.filter(({ status }) => status !== 200);
  expect([answers.length - refused.length, refused.length]).toEqual([50, 6]);
  for (const answer of refused) {
    expect([answer.status, errorOf(answer).code]).toEqual([429, 'rate_limited']);
    expect(answer.headers['Retry-After']).toBe('10');
  }
  expect(listed(await api.list('status=running&limit=1'))[1]).toBe(50);
});

describe('with two errors, a start is rejected for', () => {
  const blocked = async () => api.tasks.put({ dependsOn: [await api.tasks.put()] });

  it('the token before the scope, and the scope before the body', async () => {
    const reader = await newExecutionsApi(['agents:read']);
    const tooLarge = 'x'.repeat(257 * 1024);
    await reader.refuses(() => reader.execute(tooLarge, { token: '' }), 401, 'unauthorized');
    await reader.refuses(() => reader.execute(tooLarge), 403, 'insufficient_scope');
  });

  it('an absent agent before an absent task', async () => {
    await api.refuses(
      () => api.execute({ ...newExecution, taskId: absent }, { name: 'absent-agent' }),
      404,
      'not_found',
    );
  });

  it('an absent task before an agent that is not active', async () => {
    await api.agents.update('writer', { status: 'draft' });
    await api.refuses(() => api.execute({ ...newExecution, taskId: absent }), 422, 'unknown_reference');
  });

  it('an agent that is not active before a blocked task', async () => {
    await api.agents.update('writer', { status: 'draft' });
    const taskId = await blocked();
    await api.refuses(() => api.execute({ ...newExecution, taskId }), 409, 'agent_not_active');
  });
});
