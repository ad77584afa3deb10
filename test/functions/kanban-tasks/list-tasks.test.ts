import { describe, expect, it } from 'vitest';
import type { TaskDetail, TaskListItem } from '../../../lib/contract/tasks/tasks.ts';
import { dataOf, paginationOf } from '../../api.ts';
import { newForEachTest } from '../../caller.ts';
import { createTaskCallers } from './task-caller.ts';

const { newTaskCaller } = await createTaskCallers();
const caller = newForEachTest(newTaskCaller);

/** Returns a page of a list: the ids of its tasks, and its `pagination`. */
async function listed(query = '') {
  const answer = await caller.listTasks({ query });
  return { ids: dataOf<{ id: string }[]>(answer).map(({ id }) => id), ...paginationOf(answer) };
}

describe('a list', () => {
  it('of an organization without tasks is an empty page, also while another one has tasks', async () => {
    await (await newTaskCaller()).put({ projectId: 'proj_1', assignedAgent: 'qa-reviewer' });
    const answer = await caller.listTasks();
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ success: true, data: [], pagination: { limit: 20, offset: 0, total: 0 } });
    expect(answer.headers).not.toHaveProperty('ETag');
    for (const query of ['project_id=proj_1', 'assigned_agent=qa-reviewer'])
      expect(await listed(query)).toMatchObject({ ids: [], total: 0 });
  });

  it('shows exactly the set fields of a task, its dependencies as ids', async () => {
    const first = await caller.put();
    await caller.put({ description: 'd', assignedAgent: 'qa-reviewer', projectId: 'proj_1', dependsOn: [first] });
    // Tasks of the same millisecond have no order.
    const tasks = dataOf<Record<string, unknown>[]>(await caller.listTasks());
    const [full, bare] = [tasks.find(({ id }) => id !== first), tasks.find(({ id }) => id === first)];
    const fields = 'id title description status priority assignedAgent projectId dependsOn createdAt updatedAt';
    const optional = ['description', 'assignedAgent', 'projectId'];
    expect(Object.keys(full ?? {})).toEqual(fields.split(' '));
    expect(Object.keys(bare ?? {})).toEqual(fields.split(' ').filter((field) => !optional.includes(field)));
    expect([full?.dependsOn, bare?.dependsOn]).toEqual([[first], []]);
  });

  it('has the unfinished dependencies of each task if the request asks for them', async () => {
    const done = await caller.put({ title: 'Draw it', status: 'done' });
    const open = await caller.put({ title: 'Build it', dependsOn: [done] });
    const blocked = await caller.put({ title: 'Ship it', dependsOn: [done, open] });
    await caller.put({ title: 'Review it', dependsOn: [open, blocked] });
    const items = dataOf<TaskListItem[]>(await caller.listTasks({ query: 'include=blockedBy' }));
    const found = items.map(({ title, blockedBy }) => [title, blockedBy?.map((one) => one.title)]);
    expect(Object.fromEntries(found)).toEqual({
      'Review it': ['Build it', 'Ship it'],
      'Ship it': ['Build it'],
      'Build it': [],
      'Draw it': [],
    });
    const own = dataOf<TaskDetail>(await caller.getTask({ params: { id: blocked } }));
    expect(items.find(({ id }) => id === blocked)).toEqual({
      ...own,
      dependsOn: [done, open],
      blockedBy: [{ id: open, title: 'Build it', status: 'backlog' }],
    });
  });

  it('is newest first, in pages, and is empty past its end', async () => {
    const ids = [await caller.put(), await caller.put(), await caller.put()].sort().reverse();
    expect(await listed()).toEqual({ ids, limit: 20, offset: 0, total: 3 });
    expect(await listed('limit=101')).toMatchObject({ ids, limit: 100 });
    expect(await listed('limit=1&offset=1')).toEqual({ ids: [ids[1]], limit: 1, offset: 1, total: 3 });
    const offset = 999_999_999_999_999;
    expect(await listed(`offset=${offset}`)).toEqual({ ids: [], limit: 20, offset, total: 3 });
  });

  it('is filtered by each parameter, and by all of them', async () => {
    const backlogHigh = await caller.put({ priority: 'high' });
    const agent = { assignedAgent: 'qa-reviewer', projectId: 'proj_1' };
    const doneLow = await caller.put({ status: 'done', priority: 'low', ...agent });
    const doneHigh = await caller.put({ status: 'done', priority: 'high', projectId: 'proj_1' });
    const filtered: [query: string, ids: string[]][] = [
      ['status=done', [doneLow, doneHigh]],
      ['priority=high', [backlogHigh, doneHigh]],
      ['assigned_agent=qa-reviewer', [doneLow]],
      ['project_id=proj_1', [doneLow, doneHigh]],
      ['assigned_agent=qa-reviewer&project_id=proj_1&status=done&priority=low', [doneLow]],
      ['assigned_agent=missing-agent', []],
    ];
    for (const [query, ids] of filtered) {
      const page = await listed(query);
      expect([query, page.ids.sort(), page.total]).toEqual([query, ids.sort(), ids.length]);
    }
  });
});

describe('a list is refused with 400 validation_failed', () => {
  it.each([
    ['a limit given twice', 'limit=5&limit=5', 'limit'],
    ['a parameter as an array', 'status[]=done', 'status[]'],
    ['an unknown addition', 'include=dependents', 'include'],
    ['__proto__', '__proto__=1', '__proto__'],
    ['percent-encoding that is no UTF-8', 'status=%ff%fe', 'status'],
    ['a 10 KB agent', `assigned_agent=${'a'.repeat(10_240)}`, 'assigned_agent'],
  ])('for %s', async (_, query, path) => {
    const error = await caller.refuses(() => caller.listTasks({ query }), 400, 'validation_failed');
    expect(error.details?.map((detail) => detail.path)).toEqual([path]);
  });

  it('naming the right spelling of a parameter', async () => {
    const send = () => caller.listTasks({ query: 'assignedAgent=qa-reviewer' });
    const error = await caller.refuses(send, 400, 'validation_failed');
    expect(error.details?.[0]?.message).toContain('assigned_agent');
  });
});
