import { beforeAll, describe, expect, it } from 'vitest';
import { taskPriorities, taskStatuses } from '../../../lib/contract/tasks/tasks.ts';
import type { StoredTask } from '../../../lib/table/tasks/task-items.ts';
import { listLimits } from '../../costs/endpoint-budgets.ts';
import { meter } from '../fixtures/capacity.ts';
import { deepOffsets, idsOnPages, wrongPages } from '../lists/list-costs.ts';
import type { ExpectedList } from '../lists/model.ts';
import { projects, taskLists } from './model.ts';
import { bareTasks, seed } from './seed.ts';
import { agents, createTestTable } from './test-table.ts';

const yearMs = 365 * 24 * 60 * 60 * 1000;

/** Creates tasks evenly over a year and all facets. With `linked` one of two has an agent and one of three a project. */
function tasksOfAYear(count: number, linked: boolean): StoredTask[] {
  const start = Date.UTC(2025, 0, 1);
  const turn = <Value>(values: readonly [Value, ...Value[]], nth: number) => values[nth % values.length] ?? values[0];
  return bareTasks(count, (nth) => start + Math.floor((nth * yearMs) / count)).map((task, nth) => {
    const round = Math.floor(nth / 24);
    return {
      ...{ ...task, status: turn(taskStatuses, nth), priority: turn(taskPriorities, Math.floor(nth / 6)) },
      ...(linked && round % 2 === 0 && { assignedAgent: turn(agents, Math.floor(round / 2)) }),
      ...(linked && round % 3 === 0 && { projectId: turn(projects, Math.floor(round / 3)) }),
    };
  });
}

// The largest organization has no agents and projects. Its only list is the largest.
describe.each([
  [100, true],
  [10_000, true],
  [100_000, false],
])('of %i tasks over a year', (count, linked) => {
  let lists: ExpectedList[];
  let metered: ReturnType<typeof meter>;

  beforeAll(async () => {
    const board = await createTestTable();
    metered = meter(board.table);
    const tasks = tasksOfAYear(count, linked);
    lists = taskLists(board, tasks).filter(({ filter: { agent, project } }) => linked || (!agent && !project));
    const shown = idsOnPages(lists);
    await seed(board.table, board.organization, tasks, ({ id }) => shown.has(id));
  }, 280_000);

  it('the first page and a page at a deep offset cost at most their limits, with every filter', async () => {
    expect(await wrongPages(lists, metered, listLimits.firstPage, () => [0])).toEqual([]);
    expect(await wrongPages(lists, metered, listLimits.anyOffset, deepOffsets)).toEqual([]);
  });
});
