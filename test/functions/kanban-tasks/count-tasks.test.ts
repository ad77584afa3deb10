import { describe, expect, it } from 'vitest';
import { processContext } from '../../../lib/context/context.ts';
import { type TaskCounts, taskPriorities, taskStatuses } from '../../../lib/contract/tasks/tasks.ts';
import { countedAgentsLimit } from '../../../lib/tasks/task-counts.ts';
import { dataOf } from '../../api.ts';
import { newForEachTest } from '../../caller.ts';
import { seedAgents, storedAgent } from '../../table/agents/agent-seed.ts';
import { newAgent } from '../agents/test-agents.ts';
import { createTaskCallers } from './task-caller.ts';

const { newTaskCaller } = await createTaskCallers();
const caller = newForEachTest(newTaskCaller);

/** Returns the groups that have tasks: the number of each value. */
async function counted(query: string): Promise<[value: string | null, count: number][]> {
  const { groups } = dataOf<TaskCounts>(await caller.countTasks({ query }));
  return groups.filter(({ count }) => count > 0).map(({ value, count }) => [value, count]);
}

const byAgent = (query = '') => counted(`group_by=assigned_agent${query}`);

describe('the counts', () => {
  it('by status are the default, and have every status in the order of the board', async () => {
    await (await newTaskCaller()).put();
    await caller.put({ status: 'done' });
    const answer = await caller.countTasks();
    expect(answer.status).toBe(200);
    const groups = taskStatuses.map((value) => ({ value, count: value === 'done' ? 1 : 0 }));
    expect(answer.body).toEqual({ success: true, data: { groupBy: 'status', total: 1, groups } });
    expect(answer.headers).not.toHaveProperty('ETag');
  });

  it('by priority have every priority, also of an organization without tasks', async () => {
    const { body } = await caller.countTasks({ query: 'group_by=priority' });
    const groups = taskPriorities.map((value) => ({ value, count: 0 }));
    expect(body).toEqual({ success: true, data: { groupBy: 'priority', total: 0, groups } });
  });

  it('by agent have only agents with tasks, in alphabetical order, then the tasks without one', async () => {
    expect((await caller.countTasks({ query: 'group_by=assigned_agent' })).body).toEqual({
      success: true,
      data: { groupBy: 'assigned_agent', total: 0, groups: [] },
    });
    await caller.createAgent({ body: { ...newAgent, name: 'idle' } });
    for (const assignedAgent of ['qa-reviewer', 'prompt-improver', undefined, 'qa-reviewer'])
      await caller.put({ assignedAgent });
    expect((await caller.countTasks({ query: 'group_by=assigned_agent' })).body).toEqual({
      success: true,
      data: {
        groupBy: 'assigned_agent',
        total: 4,
        groups: [
          { value: 'prompt-improver', count: 1 },
          { value: 'qa-reviewer', count: 2 },
          { value: null, count: 1 },
        ],
      },
    });
  });

  it('have only the tasks that match all filters', async () => {
    const agent = { assignedAgent: 'qa-reviewer', projectId: 'proj_1' };
    await caller.put({ status: 'done', priority: 'low', ...agent });
    await caller.put({ status: 'done', priority: 'high', projectId: 'proj_1' });
    await caller.put({ status: 'backlog', priority: 'high' });
    for (const [query, groups] of [
      ['status=done', [['done', 2]]],
      [
        'group_by=priority&status=done',
        [
          ['low', 1],
          ['high', 1],
        ],
      ],
      [
        'group_by=status&priority=high',
        [
          ['backlog', 1],
          ['done', 1],
        ],
      ],
      ['project_id=proj_1', [['done', 2]]],
      ['assigned_agent=qa-reviewer&project_id=proj_1', [['done', 1]]],
      ['assigned_agent=missing-agent', []],
      [
        'group_by=assigned_agent&project_id=proj_1',
        [
          ['qa-reviewer', 1],
          [null, 1],
        ],
      ],
      ['group_by=assigned_agent&priority=high', [[null, 2]]],
      ['group_by=assigned_agent&assigned_agent=qa-reviewer', [['qa-reviewer', 1]]],
      ['group_by=assigned_agent&assigned_agent=qa-reviewer&priority=high', []],
    ])
      expect([query, await counted(query as string)]).toEqual([query, groups]);
  });

  it('show each change with its response', async () => {
    const id = await caller.put();
    await caller.updateTask({ params: { id }, body: { status: 'qa_review', assignedAgent: 'qa-reviewer' } });
    expect([await counted(''), await byAgent()]).toEqual([[['qa_review', 1]], [['qa-reviewer', 1]]]);
    await caller.deleteTask({ params: { id } });
    expect([await counted(''), await byAgent()]).toEqual([[], []]);
  });

  it('have the tasks of a deleted agent among those without one, unless the filter names it', async () => {
    await caller.createAgent({ body: newAgent });
    await caller.put({ assignedAgent: 'writer' });
    await caller.put();
    expect(await byAgent()).toEqual([
      ['writer', 1],
      [null, 1],
    ]);
    await caller.deleteAgent({ params: { name: 'writer' } });
    expect(await byAgent()).toEqual([[null, 2]]);
    expect(await byAgent('&assigned_agent=writer')).toEqual([['writer', 1]]);
  });
});

describe('counts are refused', () => {
  it.each([
    ['another field', 'group_by=project_id', 'group_by'],
    ['a page', 'limit=5', 'limit'],
    ['an unknown status', 'status=open', 'status'],
  ])('with 400 validation_failed for %s', async (_, query, path) => {
    const error = await caller.refuses(() => caller.countTasks({ query }), 400, 'validation_failed');
    expect(error.details?.map((detail) => detail.path)).toEqual([path]);
  });

  it('with 403 insufficient_scope for a token without tasks:read', async () => {
    const writer = await newTaskCaller(['tasks:write']);
    await writer.refuses(() => writer.countTasks(), 403, 'insufficient_scope');
  });

  it('with 409 limit_reached by agent above the maximum of agents, unless the filter names one', async () => {
    const names = Array.from({ length: countedAgentsLimit - 2 }, (_, nth) => `agent-${nth}`);
    const agents = names.map((name) => storedAgent({ name }));
    await seedAgents(processContext().table, caller.organization, agents);
    await caller.put({ assignedAgent: 'agent-7' });
    expect(await byAgent()).toEqual([['agent-7', 1]]);
    await seedAgents(processContext().table, caller.organization, [storedAgent({ name: 'one-more' })]);
    const error = await caller.refuses(
      () => caller.countTasks({ query: 'group_by=assigned_agent' }),
      409,
      'limit_reached',
    );
    expect(error.message).toContain('assigned_agent');
    expect(await byAgent('&assigned_agent=agent-7')).toEqual([['agent-7', 1]]);
    expect(await counted('group_by=status')).toEqual([['backlog', 1]]);
  });
});
