import { expect, it } from 'vitest';
import type { Task, TaskDetail } from '../../lib/contract/tasks/tasks.ts';
import { dataOf, paginationOf, statusAndCodeOf, successOf } from '../api.ts';
import { createDeployedOrganization, headerOf } from './deployed.ts';

export function testTasks(): void {
  it('tasks have exact totals, safe changes, dependencies and deletion', async () => {
    const { api } = await createDeployedOrganization('tasks');
    const create = async (body: object) => successOf(await api.createTask({ body })).id;
    const first = await create({ title: 'Draw it', priority: 'high', assignedAgent: 'qa-reviewer' });
    const second = await create({ title: 'Build it', dependsOn: [first] });
    await Promise.all(['Test it', 'Ship it', 'Announce it'].map((title) => create({ title })));

    const page = await api.listTasks({ query: 'limit=2&offset=1' });
    expect(paginationOf(page)).toEqual({ limit: 2, offset: 1, total: 5 });
    const filtered = await api.listTasks({ query: 'assigned_agent=qa-reviewer&priority=high' });
    expect(dataOf<Task[]>(filtered).map(({ id }) => id)).toEqual([first]);

    const [ofFirst, ofSecond] = [{ params: { id: first } }, { params: { id: second } }];
    const read = await api.getTask(ofSecond);
    const dependency = { id: first, title: 'Draw it', status: 'backlog' };
    expect(dataOf<TaskDetail>(read)).toMatchObject({ dependsOn: [dependency], blockedBy: [dependency] });
    expect(statusAndCodeOf(await api.deleteTask(ofFirst))).toEqual([409, 'has_dependents']);

    const change = { ...ofSecond, body: { status: 'done' }, headers: { 'If-Match': headerOf(read, 'ETag') } };
    expect((await api.updateTask(change)).status).toBe(200);
    expect(statusAndCodeOf(await api.updateTask(change))).toEqual([412, 'precondition_failed']);
    expect((await api.deleteTask(ofFirst)).body).toEqual({ success: true });
    expect(paginationOf(await api.listTasks()).total).toBe(4);
  });

  it('an Idempotency-Key creates one task, and organizations do not see each other’s', async () => {
    const [one, other] = [await createDeployedOrganization('one'), await createDeployedOrganization('other')];
    const request = { body: { title: 'Once' }, headers: { 'Idempotency-Key': 'one' } };
    const [created, again] = [await one.api.createTask(request), await one.api.createTask(request)];
    expect([again.status, again.body]).toEqual([201, created.body]);
    expect(headerOf(again, 'Idempotency-Replayed')).toBe('true');
    expect(paginationOf(await one.api.listTasks()).total).toBe(1);
    expect((await other.api.getTask({ params: { id: dataOf(created).id } })).status).toBe(404);
    expect(paginationOf(await other.api.listTasks()).total).toBe(0);
  });
}
