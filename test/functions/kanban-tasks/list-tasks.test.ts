import { describe, expect, it } from 'vitest';
import { dataOf, paginationOf } from '../../api.ts';
import type { Answer } from '../../service.ts';
import { createTaskCallers } from './task-caller.ts';

const { newTaskCaller } = await createTaskCallers();

const idsOf = (answer: Answer) => dataOf<{ id: string }[]>(answer).map(({ id }) => id);

describe('a list', () => {
  it('of an organization without tasks is an empty page', async () => {
    const caller = await newTaskCaller();
    const answer = await caller.listTasks();
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ success: true, data: [], pagination: { limit: 20, offset: 0, total: 0 } });
    expect(answer.headers).not.toHaveProperty('ETag');
  });

  it('shows exactly the set fields of a task, its dependencies as ids', async () => {
    const caller = await newTaskCaller();
    const first = await caller.put();
    await caller.put({ description: 'd', assignedAgent: 'qa-reviewer', projectId: 'proj_1', dependsOn: [first] });
    const [full, bare] = dataOf<[Record<string, unknown>, Record<string, unknown>]>(await caller.listTasks());
    expect(Object.keys(full)).toEqual([
      'id',
      'title',
      'description',
      'status',
      'priority',
      'assignedAgent',
      'projectId',
      'dependsOn',
      'createdAt',
      'updatedAt',
    ]);
    expect(full.dependsOn).toEqual([first]);
    expect(Object.keys(bare)).toEqual(['id', 'title', 'status', 'priority', 'dependsOn', 'createdAt', 'updatedAt']);
    expect(bare.dependsOn).toEqual([]);
  });

  it('is newest first and shows 20 by default', async () => {
    const caller = await newTaskCaller();
    const ids = [];
    for (let at = 0; at < 21; at++) ids.push(await caller.put());
    const answer = await caller.listTasks();
    expect(dataOf<{ createdAt: string }[]>(answer)).toHaveLength(20);
    expect(idsOf(answer)).toEqual([...idsOf(answer)].sort().reverse());
    expect(paginationOf(answer)).toEqual({ limit: 20, offset: 0, total: 21 });
  });

  it('pages by limit and offset', async () => {
    const caller = await newTaskCaller();
    for (let at = 0; at < 5; at++) await caller.put();
    const all = idsOf(await caller.listTasks());
    const answer = await caller.listTasks({ query: 'limit=2&offset=1' });
    expect(idsOf(answer)).toEqual(all.slice(1, 3));
    expect(paginationOf(answer)).toEqual({ limit: 2, offset: 1, total: 5 });
  });

  it.each(['101', '1000', '99999999999999999999999999'])('clamps limit=%s to 100 and says so', async (limit) => {
    const caller = await newTaskCaller();
    const answer = await caller.listTasks({ query: `limit=${limit}` });
    expect(answer.status).toBe(200);
    expect(paginationOf(answer)).toEqual({ limit: 100, offset: 0, total: 0 });
  });

  it.each([1, 5, 999_999_999_999_999])(
    'is an empty page with the true total at offset %i past the end',
    async (offset) => {
      const caller = await newTaskCaller();
      await caller.put();
      const answer = await caller.listTasks({ query: `offset=${offset}` });
      expect(answer.body).toEqual({ success: true, data: [], pagination: { limit: 20, offset, total: 1 } });
    },
  );

  it.each([
    ['status=done', ['done low', 'done high']],
    ['priority=high', ['backlog high', 'done high']],
    ['status=done&priority=high', ['done high']],
    ['assigned_agent=qa-reviewer', ['done low']],
    ['project_id=proj_1', ['done low', 'done high']],
    ['assigned_agent=qa-reviewer&project_id=proj_1&status=done&priority=low', ['done low']],
    ['assigned_agent=qa-reviewer&status=backlog', []],
    ['assigned_agent=missing-agent', []],
    ['project_id=proj_none', []],
    ['status=in_progress', []],
  ])('filters by %s', async (query, titles) => {
    const caller = await newTaskCaller();
    await caller.put({ title: 'backlog high', priority: 'high' });
    await caller.put({
      title: 'done low',
      status: 'done',
      priority: 'low',
      assignedAgent: 'qa-reviewer',
      projectId: 'proj_1',
    });
    await caller.put({ title: 'done high', status: 'done', priority: 'high', projectId: 'proj_1' });
    const answer = await caller.listTasks({ query });
    expect(
      dataOf<{ title: string }[]>(answer)
        .map(({ title }) => title)
        .sort(),
    ).toEqual([...titles].sort());
    expect(paginationOf(answer)).toMatchObject({ total: titles.length });
  });

  it('shows nothing of another organization', async () => {
    const [caller, other] = [await newTaskCaller(), await newTaskCaller()];
    await other.put({ projectId: 'proj_1', assignedAgent: 'qa-reviewer' });
    for (const query of ['', 'project_id=proj_1', 'assigned_agent=qa-reviewer'])
      expect(paginationOf(await caller.listTasks({ query }))).toMatchObject({ total: 0 });
  });
});

describe('a list is refused with 400 validation_failed', () => {
  it.each([
    ['an unknown status', 'status=Done', 'status'],
    ['a status every object has', 'status=__proto__', 'status'],
    ['an unknown priority', 'priority=urgent', 'priority'],
    ['an agent that cannot be one', 'assigned_agent=Not%20Kebab', 'assigned_agent'],
    ['an agent with a #', 'assigned_agent=a%23b', 'assigned_agent'],
    ['a project that cannot be one', 'project_id=docs', 'project_id'],
    ['a limit of 0', 'limit=0', 'limit'],
    ['a limit of 000', 'limit=000', 'limit'],
    ['a negative limit', 'limit=-1', 'limit'],
    ['a limit with an exponent', 'limit=1e3', 'limit'],
    ['a limit with a fraction', 'limit=5.0', 'limit'],
    ['a limit in hexadecimal', 'limit=0x10', 'limit'],
    ['a limit behind a space', 'limit=%205', 'limit'],
    ['a limit behind a space written as +', 'limit=+5', 'limit'],
    ['a limit with a sign', 'limit=%2B5', 'limit'],
    ['a limit before a line break', 'limit=5%0A', 'limit'],
    ['a limit in Arabic digits', 'limit=%D9%A3', 'limit'],
    ['a limit in words', 'limit=ten', 'limit'],
    ['a limit that is not a number', 'limit=NaN', 'limit'],
    ['a limit without end', 'limit=Infinity', 'limit'],
    ['a negative offset', 'offset=-1', 'offset'],
    ['a negative zero', 'offset=-0', 'offset'],
    ['an offset with an exponent', 'offset=1e3', 'offset'],
    ['an empty limit', 'limit=', 'limit'],
    ['a limit without a value', 'limit', 'limit'],
    ['an empty status', 'status=', 'status'],
    ['a limit given twice', 'limit=5&limit=5', 'limit'],
    ['a status given twice, once empty', 'status=done&status=', 'status'],
    ['an unknown parameter', 'colour=red', 'colour'],
    ['a parameter without a name', '=5', ''],
    ['__proto__', '__proto__=1', '__proto__'],
    ['constructor', 'constructor=1', 'constructor'],
    ['a parameter as an array', 'status[]=done', 'status[]'],
    ['odd percent-encoding', 'status=%ZZ', 'status'],
    ['percent-encoding that is no UTF-8', 'status=%ff%fe', 'status'],
    ['an encoded zero byte', 'assigned_agent=a%00', 'assigned_agent'],
    ['a 10 KB agent', `assigned_agent=${'a'.repeat(10_240)}`, 'assigned_agent'],
  ])('for %s', async (_, query, path) => {
    const caller = await newTaskCaller();
    const error = await caller.refuses(() => caller.listTasks({ query }), 400, 'validation_failed');
    expect(error.details?.map((detail) => detail.path)).toEqual([path]);
  });

  it.each(['assignedAgent', 'AssignedAgent', 'assigned-agent'])('naming the right spelling for %s', async (name) => {
    const caller = await newTaskCaller();
    const error = await caller.refuses(
      () => caller.listTasks({ query: `${name}=qa-reviewer` }),
      400,
      'validation_failed',
    );
    expect(error.details?.[0]?.message).toContain('assigned_agent');
  });

  it('naming all faults in one answer', async () => {
    const caller = await newTaskCaller();
    const query = 'status=Done&limit=0&offset=x&projectId=proj_1&priority=';
    const error = await caller.refuses(() => caller.listTasks({ query }), 400, 'validation_failed');
    expect(error.details?.map(({ path }) => path).sort()).toEqual([
      'limit',
      'offset',
      'priority',
      'projectId',
      'status',
    ]);
  });

  it('for an offset of more digits than a number can hold', async () => {
    const caller = await newTaskCaller();
    await caller.refuses(() => caller.listTasks({ query: `offset=${'9'.repeat(400)}` }), 400, 'validation_failed');
  });
});

it('is refused with 401 unauthorized without a token', async () => {
  const caller = await newTaskCaller();
  await caller.refuses(() => caller.listTasks({ token: undefined }), 401, 'unauthorized');
});

it('is refused with 403 insufficient_scope by a token that may only write tasks', async () => {
  const caller = await newTaskCaller(['tasks:write', 'agents:read', 'webhooks:read']);
  await caller.refuses(() => caller.listTasks(), 403, 'insufficient_scope');
});
