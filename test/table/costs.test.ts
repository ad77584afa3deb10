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

/** A text that makes the item of a task almost 1 KB large. */
const description = 'x'.repeat(650);
const [assignedAgent] = agents;
const [projectId] = projects;
const put = async (fields = {}) => (await board.put({ description, ...fields })).id;
const putMany = (count: number) => Promise.all(Array.from({ length: count }, () => put()));

describe('a creation costs', () => {
  it.each([
    ['bare', {}, 6],
    ['with an agent', { assignedAgent }, 12],
    ['with a project', { projectId }, 12],
    ['with both', { assignedAgent, projectId }, 24],
  ])('%s, the write units of its rows and counters', async (_, fields, wcu) => {
    expectAtMost(await costOf(() => put(fields)), { requests: 2, rcu: 2, wcu });
  });

  it('two more write units for each dependency', async () => {
    const dependsOn = await putMany(5);
    expectAtMost(await costOf(() => put({ dependsOn })), { requests: 1, rcu: 2, wcu: 6 + 2 * 5 });
  });
});

describe('a read of a task costs', () => {
  it('one request and one read unit', async () => {
    const id = await put({ assignedAgent, projectId });
    const cost = await costOf(() => getTask(board, board.organization, id));
    expectAtMost(cost, { requests: 1, rcu: 1, wcu: 0 });
  });

  it.each([1, 5, 25])('another request and a read unit for each of %i dependencies', async (count) => {
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

  it('a read and a write for a text', async () => {
    const cost = await costOfChange({ assignedAgent, projectId }, { title: 'Another' });
    expectAtMost(cost, { requests: 2, rcu: 1, wcu: 1 });
  });

  it('a read for equal values', async () => {
    const cost = await costOfChange({ title: 'The same' }, { title: 'The same' });
    expectAtMost(cost, { requests: 1, rcu: 1, wcu: 0 });
  });

  it.each([
    ['of a bare task', {}, 10],
    ['with an agent', { assignedAgent }, 16],
    ['with a project', { projectId }, 16],
    ['with both', { assignedAgent, projectId }, 28],
  ])('a read and the writes of rows for a change of the status or priority %s', async (_, fields, wcu) => {
    for (const patch of [{ status: 'done' }, { priority: 'low' }, { status: 'done', priority: 'low' }] as const)
      expectAtMost(await costOfChange(fields, patch), { requests: 2, rcu: 1, wcu });
  });

  it('four more write units and the search for cycles for a new dependency', async () => {
    const [top, middle, bottom] = (await putMany(3)) as [string, string, string];
    await updateTask(board, board.organization, middle, { dependsOn: [bottom] }, always);
    await updateTask(board, board.organization, top, { dependsOn: [middle] }, always);
    const cost = await costOfChange({}, { dependsOn: [top] });
    // Reads: the task, the lock, the new dependency and three levels of dependencies. Then one transaction.
    expectAtMost(cost, { requests: 7, rcu: 6, wcu: 2 + 4 });
  });
});
