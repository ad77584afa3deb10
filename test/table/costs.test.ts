import { beforeEach, describe, it } from 'vitest';
import type { TaskPatch } from '../../lib/contract/tasks.ts';
import { getTask, updateTask } from '../../lib/tasks/tasks.ts';
import { agents, always, type Board, openBoard } from './board.ts';
import { meter } from './capacity.ts';
import { expectAtMost } from './cost-limits.ts';
import { projects } from './model.ts';

let board: Board;
let costOf: ReturnType<typeof meter>['costOf'];
beforeEach(async () => {
  board = await openBoard();
  ({ costOf } = meter(board.table));
});

/** With this text a task's item is nearly 1 KB. */
const description = 'x'.repeat(650);
const [assignedAgent] = agents;
const [projectId] = projects;
const put = async (fields = {}) => (await board.put({ description, ...fields })).id;
const putMany = (count: number) => Promise.all(Array.from({ length: count }, () => put()));

describe('a create costs', () => {
  it.each([
    ['bare', {}, 6],
    ['with an agent', { assignedAgent }, 12],
    ['with a project', { projectId }, 12],
    ['with both', { assignedAgent, projectId }, 24],
  ])('%s, as many write units as its rows and counters take, and hardly a read', async (_, fields, wcu) => {
    expectAtMost(await costOf(() => put(fields)), { requests: 2, rcu: 2, wcu });
  });

  it('two write units more for each dependency', async () => {
    const dependsOn = await putMany(5);
    expectAtMost(await costOf(() => put({ dependsOn })), { requests: 1, rcu: 2, wcu: 6 + 2 * 5 });
  });
});

describe('a read of one task costs', () => {
  it('one request and one read unit', async () => {
    const id = await put({ assignedAgent, projectId });
    const cost = await costOf(() => getTask(board, board.organization, id));
    expectAtMost(cost, { requests: 1, rcu: 1, wcu: 0 });
  });

  it.each([1, 5, 25])('one request more, and a read unit for each, with %i dependencies', async (count) => {
    const id = await put({ dependsOn: await putMany(count) });
    const cost = await costOf(() => getTask(board, board.organization, id));
    expectAtMost(cost, { requests: 2, rcu: 1 + count, wcu: 0 });
  });
});

describe('a change costs', () => {
  const costOfChange = async (fields: object, patch: TaskPatch) => {
    const id = await put(fields);
    return costOf(() => updateTask(board, board.organization, id, patch, always));
  };

  it('of text a read and a write', async () => {
    const cost = await costOfChange({ assignedAgent, projectId }, { title: 'Another' });
    expectAtMost(cost, { requests: 2, rcu: 1, wcu: 1 });
  });

  it('of nothing a read', async () => {
    const cost = await costOfChange({ title: 'The same' }, { title: 'The same' });
    expectAtMost(cost, { requests: 1, rcu: 1, wcu: 0 });
  });

  it.each([
    ['of a bare task', {}, 10],
    ['of an agent', { assignedAgent }, 16],
    ['of a project', { projectId }, 16],
    ['of both', { assignedAgent, projectId }, 28],
  ])('of the column %s a read and the rows that move', async (_, fields, wcu) => {
    for (const patch of [{ status: 'done' }, { priority: 'low' }, { status: 'done', priority: 'low' }] as const)
      expectAtMost(await costOfChange(fields, patch), { requests: 2, rcu: 1, wcu });
  });

  it('that adds a dependency four write units more, and the walk', async () => {
    const [top, middle, bottom] = (await putMany(3)) as [string, string, string];
    await updateTask(board, board.organization, middle, { dependsOn: [bottom] }, always);
    await updateTask(board, board.organization, top, { dependsOn: [middle] }, always);
    const cost = await costOfChange({}, { dependsOn: [top] });
    // The task, the lock, the new dependency, and the walk over three levels; in one transaction then with the task.
    expectAtMost(cost, { requests: 7, rcu: 6, wcu: 2 + 4 });
  });
});
