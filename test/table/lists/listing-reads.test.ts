import { beforeEach, describe, expect, it } from 'vitest';
import { ulidOf } from '../../../lib/contract/ids.ts';
import { taskStatuses } from '../../../lib/contract/tasks.ts';
import { keys } from '../../../lib/table/keys.ts';
import { everything } from '../../../lib/table/lists/listing.ts';
import type { TaskFilter } from '../../../lib/table/tasks/task-items.ts';
import { transact } from '../../../lib/table/transact.ts';
import { listTasks } from '../../../lib/tasks/tasks.ts';
import { taskLists } from '../tasks/model.ts';
import { bareTasks, seed } from '../tasks/seed.ts';
import { createTestTable, type TestTable } from '../tasks/test-table.ts';
import { differences } from './model.ts';

let board: TestTable;
beforeEach(async () => {
  board = await createTestTable();
});

/** Puts a row without an item, as a reader sees it while a write is under way. */
const putRow = (facet: string, ulid: string, filter: { agent?: string; project?: string } = {}) =>
  transact(board.table, [{ Put: { Item: keys.listRow(keys.taskScope(board.organization, filter), facet, ulid) } }]);

const idsOf = async (filter: TaskFilter) => {
  const { items } = await listTasks(board, board.organization, filter, { limit: 20, offset: 0 });
  return items.map(({ id }) => id);
};

describe('a list during a write', () => {
  it('shows a task once that has rows of two facets', async () => {
    const { id } = await board.put({ status: 'done', priority: 'low' });
    await putRow('bl', ulidOf(id));
    expect(await idsOf({ priority: 'low' })).toEqual([id]);
  });

  it('leaves out a row whose item was deleted', async () => {
    const { id } = await board.put();
    await putRow('bm', `${ulidOf(id).slice(0, 10)}0000000000000000`);
    expect(await idsOf({ status: 'backlog' })).toEqual([id]);
  });

  it('leaves out a row whose item no longer matches', async () => {
    const { id } = await board.put({ status: 'backlog', priority: 'low' });
    await putRow('dl', ulidOf(id));
    expect(await idsOf({ status: 'done' })).toEqual([]);
    await putRow(everything, ulidOf(id), { agent: 'qa-reviewer' });
    expect(await idsOf({ agent: 'qa-reviewer' })).toEqual([]);
    await putRow(everything, ulidOf(id), { project: 'proj_apollo' });
    expect(await idsOf({ project: 'proj_apollo' })).toEqual([]);
  });
});

it('the list of all tasks is read from its tasks on the first pages and from its rows on later pages', async () => {
  const tasks = bareTasks(260, (nth) => Date.UTC(2026, 0, 1) + nth * 3_600_000).map((task, nth) => ({
    ...task,
    status: taskStatuses[nth % taskStatuses.length] ?? task.status,
  }));
  await seed(board.table, board.organization, tasks);
  const [all] = taskLists(board, tasks);
  expect(all && (await differences([all], 20, () => [0, 100, 190, 210, 250, 260]))).toEqual([]);
});
