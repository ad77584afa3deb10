import { expect, it } from 'vitest';
import type { Task, TaskDetail } from '../../lib/contract/tasks.ts';
import { dataOf, paginationOf, statusAndCodeOf, successOf } from '../api.ts';
import { headerOf, openDeployed } from './deployed.ts';

/** Defines the tests of tasks, from an empty list on. */
export function testTasks(): void {
  it('tasks have exact totals, safe changes, dependencies and deletion', async () => {
    const { api } = await openDeployed('tasks');
    const create = async (body: object) => {
      const { id, status } = successOf(await api.createTask({ body }));
      expect(status).toBe('backlog');
      return id;
    };
    const first = await create({
      title: 'Draw it',
      priority: 'high',
      assignedAgent: 'qa-reviewer',
      projectId: 'proj_a',
    });
    const second = await create({ title: 'Build it', dependsOn: [first] });
    await Promise.all(['Test it', 'Ship it', 'Announce it'].map((title) => create({ title })));

    const all = await api.listTasks({ query: 'limit=2&offset=1' });
    expect(dataOf<Task[]>(all)).toHaveLength(2);
    expect(paginationOf(all)).toEqual({ limit: 2, offset: 1, total: 5 });
    const filtered = await api.listTasks({ query: 'assigned_agent=qa-reviewer&project_id=proj_a&priority=high' });
    expect(dataOf<Task[]>(filtered).map(({ id }) => id)).toEqual([first]);

    const [ofFirst, ofSecond] = [{ params: { id: first } }, { params: { id: second } }];
    const read = await api.getTask(ofSecond);
    expect(dataOf<TaskDetail>(read)).toMatchObject({
      dependsOn: [{ id: first, title: 'Draw it', status: 'backlog' }],
      blockedBy: [{ id: first, title: 'Draw it', status: 'backlog' }],
    });
    expect(statusAndCodeOf(await api.deleteTask(ofFirst))).toEqual([409, 'has_dependents']);
    const cycle = await api.updateTask({ ...ofFirst, body: { dependsOn: [second] } });
    expect(statusAndCodeOf(cycle)).toEqual([409, 'dependency_cycle']);

    const headers = { 'If-Match': headerOf(read, 'ETag') };
    const moved = await api.updateTask({ ...ofSecond, body: { status: 'done' }, headers });
    expect([moved.status, dataOf(moved).status]).toEqual([200, 'done']);
    const late = await api.updateTask({ ...ofSecond, body: { status: 'backlog' }, headers });
    expect(statusAndCodeOf(late)).toEqual([412, 'precondition_failed']);

    const deleted = await api.deleteTask(ofFirst);
    expect([deleted.status, deleted.body]).toEqual([200, { success: true }]);
    expect((await api.getTask(ofFirst)).status).toBe(404);
    expect(paginationOf(await api.listTasks()).total).toBe(4);
    expect(dataOf<TaskDetail>(await api.getTask(ofSecond)).dependsOn).toEqual([]);
  });

  it('an Idempotency-Key creates one task, and organizations do not see each other’s', async () => {
    const [one, other] = [await openDeployed('one'), await openDeployed('other')];
    const request = { body: { title: 'Once' }, headers: { 'Idempotency-Key': 'one' } };
    const [created, again] = [await one.api.createTask(request), await one.api.createTask(request)];
    expect([again.status, again.body]).toEqual([201, created.body]);
    expect(headerOf(again, 'Idempotency-Replayed')).toBe('true');
    expect(paginationOf(await one.api.listTasks()).total).toBe(1);
    expect((await other.api.getTask({ params: { id: dataOf(created).id } })).status).toBe(404);
    expect(paginationOf(await other.api.listTasks()).total).toBe(0);
  });
}
