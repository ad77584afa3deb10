import { beforeEach, describe, expect, it } from 'vitest';
import { dataOf, paginationOf } from '../../api.ts';
import { createTaskCallers, type TaskCaller } from './task-caller.ts';

const { newTaskCaller } = await createTaskCallers();
let caller: TaskCaller;

beforeEach(async () => {
  caller = await newTaskCaller();
});

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
    const [full, bare] = dataOf<Record<string, unknown>[]>(await caller.listTasks());
    const fields = 'id title description status priority assignedAgent projectId dependsOn createdAt updatedAt';
    const optional = ['description', 'assignedAgent', 'projectId'];
    expect(Object.keys(full ?? {})).toEqual(fields.split(' '));
    expect(Object.keys(bare ?? {})).toEqual(fields.split(' ').filter((field) => !optional.includes(field)));
    expect([full?.dependsOn, bare?.dependsOn]).toEqual([[first], []]);
  });

  it('is newest first, in pages of 20 by default, and is empty past its end', async () => {
    for (let at = 0; at < 21; at++) await caller.put();
    const { ids, ...pagination } = await listed('limit=101');
    expect(ids).toEqual([...ids].sort().reverse());
    expect([ids.length, pagination]).toEqual([21, { limit: 100, offset: 0, total: 21 }]);
    expect(await listed()).toEqual({ ids: ids.slice(0, 20), limit: 20, offset: 0, total: 21 });
    expect(await listed('limit=2&offset=1')).toEqual({ ids: ids.slice(1, 3), limit: 2, offset: 1, total: 21 });
    const offset = 999_999_999_999_999;
    expect(await listed(`offset=${offset}`)).toEqual({ ids: [], limit: 20, offset, total: 21 });
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
    ['a limit without a value', 'limit', 'limit'],
    ['an empty status', 'status=', 'status'],
    ['a limit given twice', 'limit=5&limit=5', 'limit'],
    ['a status given twice, once empty', 'status=done&status=', 'status'],
    ['a space written as +', 'limit=+5', 'limit'],
    ['a parameter without a name', '=5', ''],
    ['__proto__', '__proto__=1', '__proto__'],
    ['constructor', 'constructor=1', 'constructor'],
    ['a parameter as an array', 'status[]=done', 'status[]'],
    ['odd percent-encoding', 'status=%ZZ', 'status'],
    ['percent-encoding that is no UTF-8', 'status=%ff%fe', 'status'],
    ['an encoded line break', 'limit=5%0A', 'limit'],
    ['a 10 KB agent', `assigned_agent=${'a'.repeat(10_240)}`, 'assigned_agent'],
  ])('for %s', async (_, query, path) => {
    const error = await caller.refuses(() => caller.listTasks({ query }), 400, 'validation_failed');
    expect(error.details?.map((detail) => detail.path)).toEqual([path]);
  });

  it.each(['assignedAgent', 'AssignedAgent', 'assigned-agent'])('naming the right spelling for %s', async (name) => {
    const send = () => caller.listTasks({ query: `${name}=qa-reviewer` });
    const error = await caller.refuses(send, 400, 'validation_failed');
    expect(error.details?.[0]?.message).toContain('assigned_agent');
  });
});
