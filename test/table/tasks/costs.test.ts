import { beforeEach, describe, it } from 'vitest';
import type { TaskPatch } from '../../../lib/contract/tasks.ts';
import { getTask, updateTask } from '../../../lib/tasks/tasks.ts';
import { meter } from '../fixtures/capacity.ts';
import { expectAtMost } from '../fixtures/cost-limits.ts';
import { projects } from './model.ts';
import { agents, always, createTestTable, type TestTable } from './test-table.ts';

let board: TestTable;
let costOf: ReturnType<typeof meter>['costOf'];
beforeEach(async () => {
  board = await createTestTable();
  ({ costOf } = meter(board.table));
});

/** A text that makes the item of a task almost 1 KB large. */
const description = 'x'.repeat(650);
const [assignedAgent] = agents;
const [projectId] = projects;
const put = async (fields = {}) => (await board.put({ description, ...fields })).id;
const putMany = (count: number) => Promise.all(Array.from({ length: count }, () => put()));

// test/costs measures simple requests exactly. These tests limit requests with several parts.

it('a creation costs the write units of its rows and counters, and two for each dependency', async () => {
  const dependsOn = await putMany(5);
  const cost = await costOf(() => put({ description: 'Short', assignedAgent, projectId, dependsOn }));
  expectAtMost(cost, { requests: 2, rcu: 2, wcu: 24 + 2 * 5 });
});

it('a read of a task costs one more request and a read unit for each of 25 dependencies', async () => {
  const id = await put({ dependsOn: await putMany(25) });
  const cost = await costOf(() => getTask(board, board.organization, id));
  expectAtMost(cost, { requests: 2, rcu: 1 + 25, wcu: 0 });
});

describe('a change costs', () => {
  const costOfChange = async (fields: object, patch: TaskPatch) => {
    const id = await put(fields);
    return costOf(() => updateTask(board, board.organization, id, patch, always));
  };

  it.each<TaskPatch>([{ priority: 'low' }, { status: 'done', priority: 'low' }])(
    'a read and the writes of rows for %j of a task with an agent and a project',
    async (patch) => {
      expectAtMost(await costOfChange({ assignedAgent, projectId }, patch), { requests: 2, rcu: 1, wcu: 28 });
    },
  );

  it('four more write units and the search for cycles for a new dependency', async () => {
    const [top, middle, bottom] = (await putMany(3)) as [string, string, string];
    await updateTask(board, board.organization, middle, { dependsOn: [bottom] }, always);
    await updateTask(board, board.organization, top, { dependsOn: [middle] }, always);
    const cost = await costOfChange({}, { dependsOn: [top] });
    // Reads: the task, the lock, the new dependency and three levels of dependencies. Then one transaction.
    expectAtMost(cost, { requests: 7, rcu: 6, wcu: 2 + 4 });
  });
});
