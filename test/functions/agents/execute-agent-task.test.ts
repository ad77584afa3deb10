import { beforeEach, describe, expect, it } from 'vitest';
import { processContext } from '../../../lib/context.ts';
import { taskStatuses } from '../../../lib/contract/tasks.ts';
import { listExecutions } from '../../../lib/executions/executions.ts';
import { dataOf, paginationOf } from '../../api.ts';
import { sendConcurrently } from './test-agents.ts';
import { createTestExecutions, type ExecutionsApi, newExecution } from './test-executions.ts';

const { newExecutionsApi } = await createTestExecutions();
let api: ExecutionsApi;
beforeEach(async () => {
  api = await newExecutionsApi();
});

const taken = ['backlog', 'assigned', 'in_progress'];
const unchanged = taskStatuses.filter((status) => !taken.includes(status));

/** Returns a task as the API returns it, with its ETag. */
const read = async (id: string) => {
  const answer = await api.tasks.getTask({ params: { id } });
  return { ...dataOf(answer), etag: answer.headers.ETag };
};

/** Returns the number of tasks that match a filter. */
const found = async (query: string) => paginationOf(await api.tasks.listTasks({ query })).total;

describe('a start', () => {
  it.each(taken)('moves a task in %s to in_progress and assigns the agent before it responds', async (status) => {
    const taskId = await api.tasks.put({ status });
    const before = await read(taskId);
    await api.start({ taskId });
    const after = await read(taskId);
    expect(after).toMatchObject({ status: 'in_progress', assignedAgent: 'writer' });
    expect([before.etag, after.etag]).toEqual(['"1"', '"2"']);
    expect(after.updatedAt >= before.updatedAt).toBe(true);
    expect(await found('status=in_progress&assigned_agent=writer')).toBe(1);
    expect(await found(`status=${status}`)).toBe(status === 'in_progress' ? 1 : 0);
  });

  it.each(unchanged)('does not change a task in %s', async (status) => {
    const taskId = await api.tasks.put({ status });
    const before = await read(taskId);
    const id = await api.start({ taskId });
    expect(await read(taskId)).toEqual(before);
    expect(await api.execution(id)).toMatchObject({ taskId, status: 'running' });
  });

  it('keeps the assigned agent of a task', async () => {
    const taskId = await api.tasks.put({ assignedAgent: 'qa-reviewer' });
    await api.start({ taskId });
    expect(await read(taskId)).toMatchObject({ status: 'in_progress', assignedAgent: 'qa-reviewer' });
    expect(await found('assigned_agent=writer')).toBe(0);
  });

  it('changes no other field of its task', async () => {
    const done = await api.tasks.put({ status: 'done' });
    const fields = { title: 'T', description: 'D', priority: 'high', projectId: 'proj_p', dependsOn: [done] };
    const taskId = await api.tasks.put(fields);
    const { etag, updatedAt, ...before } = await read(taskId);
    await api.start({ taskId });
    const { etag: _, updatedAt: __, ...after } = await read(taskId);
    expect(after).toEqual({ ...before, status: 'in_progress', assignedAgent: 'writer' });
    expect(await found('project_id=proj_p&assigned_agent=writer&status=in_progress&priority=high')).toBe(1);
  });

  it('makes a change with the earlier ETag fail', async () => {
    const taskId = await api.tasks.put();
    await api.start({ taskId });
    const updateFirstVersion = () =>
      api.tasks.updateTask({ params: { id: taskId }, body: { title: 'x' }, headers: { 'If-Match': '"1"' } });
    await api.refuses(updateFirstVersion, 412, 'precondition_failed');
  });

  it('does not change a task of a running execution', async () => {
    const taskId = await api.tasks.put();
    const first = await api.start({ taskId });
    const before = await read(taskId);
    await api.start({ taskId });
    expect(await read(taskId)).toEqual(before);
    await api.carryOut(first);
    expect(await read(taskId)).toMatchObject({ status: 'up_for_review' });
  });

  it('does not change a task of a running execution that a user has moved to backlog', async () => {
    const taskId = await api.tasks.put();
    await api.start({ taskId });
    await api.tasks.updateTask({ params: { id: taskId }, body: { status: 'backlog' } });
    const before = await read(taskId);
    await api.start({ taskId });
    expect(await read(taskId)).toEqual(before);
  });

  it('takes a task whose previous execution has ended', async () => {
    const taskId = await api.tasks.put();
    const first = await api.start({ taskId });
    // The user moves the task, so its execution does not change it at the end and the owner stays.
    await api.tasks.updateTask({ params: { id: taskId }, body: { status: 'assigned' } });
    await api.carryOut(first);
    expect(await read(taskId)).toMatchObject({ status: 'assigned' });
    const second = await api.start({ taskId });
    expect(await read(taskId)).toMatchObject({ status: 'in_progress' });
    await api.carryOut(second);
    expect(await read(taskId)).toMatchObject({ status: 'up_for_review' });
  });

  it('takes a task once for ten concurrent starts', async () => {
    const taskId = await api.tasks.put();
    const answers = await sendConcurrently(10, () => api.execute({ ...newExecution, taskId }));
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
    expect(await read(taskId)).toMatchObject({ status: 'in_progress', etag: '"2"' });
  });

  it('and a concurrent change of its task both succeed', async () => {
    const taskId = await api.tasks.put();
    const [started, changed] = await Promise.all([
      api.execute({ ...newExecution, taskId }),
      api.tasks.updateTask({ params: { id: taskId }, body: { title: 'Another', priority: 'critical' } }),
    ]);
    expect([started.status, changed.status]).toEqual([200, 200]);
    expect(await read(taskId)).toMatchObject({ title: 'Another', status: 'in_progress', etag: '"3"' });
    expect(await found('status=in_progress&priority=critical')).toBe(1);
  });
});

describe('the execution that owns a task', () => {
  it('is in no response of a task endpoint', async () => {
    const taskId = await api.tasks.put();
    const id = await api.start({ taskId });
    const { owner } = Object.values(await api.dump()).find((item) => (item as { owner?: string }).owner) as {
      owner: string;
    };
    expect(owner).toBe(id);
    const dependent = await api.tasks.put({ dependsOn: [taskId] });
    for (const answer of [
      await api.tasks.getTask({ params: { id: taskId } }),
      await api.tasks.listTasks(),
      await api.tasks.getTask({ params: { id: dependent } }),
      await api.tasks.updateTask({ params: { id: taskId }, body: {} }),
      await api.tasks.updateTask({ params: { id: taskId }, body: { title: 'Another' } }),
      await api.tasks.deleteTask({ params: { id: taskId } }),
    ])
      for (const hidden of ['owner', id]) expect(JSON.stringify(answer)).not.toContain(hidden);
  });

  it('cannot be set by a create or an update of a task', async () => {
    const taskId = await api.tasks.put();
    for (const send of [
      () => api.tasks.createTask({ body: { title: 'T', owner: 'ex_01K00000000000000000000000' } }),
      () => api.tasks.updateTask({ params: { id: taskId }, body: { owner: null } }),
    ]) {
      const { details } = await api.refuses(send, 400, 'validation_failed');
      expect(details).toMatchObject([{ path: 'owner', code: 'unknown_field' }]);
    }
  });

  it('stays the owner when a user changes the task, and moves the task at its end', async () => {
    const taskId = await api.tasks.put();
    const id = await api.start({ taskId });
    await api.tasks.updateTask({ params: { id: taskId }, body: { title: 'Another', assignedAgent: null } });
    await api.carryOut(id);
    expect(await read(taskId)).toMatchObject({ title: 'Another', status: 'up_for_review' });
  });

  it('does not prevent a delete of the task', async () => {
    const taskId = await api.tasks.put();
    const id = await api.start({ taskId });
    expect((await api.tasks.deleteTask({ params: { id: taskId } })).status).toBe(200);
    await api.carryOut(id);
    expect(await api.execution(id)).toMatchObject({ taskId, status: 'completed' });
    expect((await api.tasks.getTask({ params: { id: taskId } })).status).toBe(404);
    expect(await found('')).toBe(0);
  });

  it('is listed with the id of its task after the task is deleted', async () => {
    const taskId = await api.tasks.put({ status: 'done' });
    const id = await api.start({ taskId });
    await api.tasks.deleteTask({ params: { id: taskId } });
    const { items } = await listExecutions(processContext(), api.organization, {}, { limit: 1, offset: 0 });
    expect(items).toMatchObject([{ id, taskId }]);
  });
});
