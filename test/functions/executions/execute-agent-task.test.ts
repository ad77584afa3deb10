import { describe, expect, it } from 'vitest';
import { taskStatuses } from '../../../lib/contract/tasks/tasks.ts';
import { dataOf, paginationOf, versionOf } from '../../api.ts';
import { newForEachTest } from '../../caller.ts';
import { sendConcurrently } from '../agents/test-agents.ts';
import { createTestExecutions, newExecution } from './test-executions.ts';

const { newExecutionsApi } = await createTestExecutions();
const api = newForEachTest(newExecutionsApi);

const taken = ['backlog', 'assigned', 'in_progress'];

/** Returns a task as the API returns it, with its version. */
const read = async (id: string) => {
  const answer = await api.tasks.getTask({ params: { id } });
  return { ...dataOf(answer), version: versionOf(answer) };
};
const update = (id: string, body: object, headers = {}) => api.tasks.updateTask({ params: { id }, body, headers });

/** Returns the number of tasks that match a filter. */
const found = async (query: string) => paginationOf(await api.tasks.listTasks({ query })).total;

describe('a start', () => {
  it.each(taken)(
    'moves a task in %s to in_progress and assigns the agent, and changes no other field',
    async (status) => {
      const done = await api.tasks.put({ status: 'done' });
      const fields = { description: 'D', priority: 'high', projectId: 'proj_p', dependsOn: [done], status };
      const taskId = await api.tasks.put(fields);
      const before = await read(taskId);
      const { ETag } = (await api.tasks.getTask({ params: { id: taskId } })).headers;
      await api.start({ taskId });
      const after = await read(taskId);
      const { updatedAt } = after;
      const moved = { status: 'in_progress', assignedAgent: 'writer' };
      expect(after).toEqual({ ...before, ...moved, updatedAt, version: 2 });
      expect(updatedAt >= before.updatedAt).toBe(true);
      expect(await found('project_id=proj_p&assigned_agent=writer&status=in_progress&priority=high')).toBe(1);
      expect(await found(`status=${status}`)).toBe(status === 'in_progress' ? 1 : 0);
      await api.refuses(() => update(taskId, { title: 'x' }, { 'If-Match': ETag }), 412, 'precondition_failed');
    },
  );

  it.each(taskStatuses.filter((status) => !taken.includes(status)))('does not change a task in %s', async (status) => {
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

  it('does not change a task of a running execution, even after a user has moved it to backlog', async () => {
    const taskId = await api.tasks.put();
    const first = await api.start({ taskId });
    const before = await read(taskId);
    await api.start({ taskId });
    expect(await read(taskId)).toEqual(before);
    await update(taskId, { status: 'backlog' });
    const moved = await read(taskId);
    await api.start({ taskId });
    expect(await read(taskId)).toEqual(moved);
    await update(taskId, { status: 'in_progress' });
    await api.carryOut(first);
    expect(await read(taskId)).toMatchObject({ status: 'up_for_review' });
  });

  it('takes a task whose previous execution has ended', async () => {
    const taskId = await api.tasks.put();
    const first = await api.start({ taskId });
    // The user moves the task, so its execution does not change it at the end and the owner stays.
    await update(taskId, { status: 'assigned' });
    await api.carryOut(first);
    expect(await read(taskId)).toMatchObject({ status: 'assigned' });
    await api.carryOut(await api.start({ taskId }));
    expect(await read(taskId)).toMatchObject({ status: 'up_for_review' });
  });

  it('takes a task once for ten concurrent starts and a concurrent change, which all succeed', async () => {
    const taskId = await api.tasks.put();
    const answers = await sendConcurrently(11, (nth) =>
      nth === 5 ? update(taskId, { title: 'Another', priority: 'critical' }) : api.execute({ ...newExecution, taskId }),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(11).fill(200));
    expect(await read(taskId)).toMatchObject({ title: 'Another', status: 'in_progress', version: 3 });
    expect(await found('status=in_progress&priority=critical')).toBe(1);
  });
});

describe('the execution that owns a task', () => {
  it('is in no response of a task endpoint', async () => {
    const taskId = await api.tasks.put();
    const id = await api.start({ taskId });
    const params = { id: taskId };
    const dependent = await api.tasks.put({ dependsOn: [taskId] });
    expect(Object.values(await api.dump())).toContainEqual(expect.objectContaining({ owner: id }));
    for (const answer of [
      await api.tasks.getTask({ params }),
      await api.tasks.listTasks(),
      await api.tasks.getTask({ params: { id: dependent } }),
      await update(taskId, {}),
      await update(taskId, { title: 'Another' }),
      await api.tasks.deleteTask({ params }),
    ])
      for (const hidden of ['owner', id]) expect(JSON.stringify(answer)).not.toContain(hidden);
  });

  it('does not prevent a delete of the task, and is listed with the id of the task afterwards', async () => {
    const taskId = await api.tasks.put();
    const id = await api.start({ taskId });
    expect((await api.tasks.deleteTask({ params: { id: taskId } })).status).toBe(200);
    await api.carryOut(id);
    expect(await api.execution(id)).toMatchObject({ taskId, status: 'completed' });
    expect(dataOf(await api.list())).toMatchObject([{ id, taskId }]);
    expect((await api.tasks.getTask({ params: { id: taskId } })).status).toBe(404);
    expect(await found('')).toBe(0);
  });
});
