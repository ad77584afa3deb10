import { isDeepStrictEqual } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { taskPriorities, taskStatuses } from '../../../lib/contract/tasks.ts';
import type { StoredTask, TaskFilter } from '../../../lib/table/tasks/task-items.ts';
import { listTasks } from '../../../lib/tasks/tasks.ts';
import { listLimits } from '../../costs/endpoint-budgets.ts';
import { type Cost, meter } from '../fixtures/capacity.ts';
import { filters, listed, periodBorders, projects } from './model.ts';
import { bareTasks, seed } from './seed.ts';
import { agents, createTestTable, type TestTable } from './test-table.ts';

const limit = 20;
const yearMs = 365 * 24 * 60 * 60 * 1000;

/**
 * Creates tasks evenly over a year and all facets. With `linked` one of two has an agent and one of three a project.
 */
function tasksOfAYear(count: number, linked: boolean): StoredTask[] {
  const start = Date.UTC(2025, 0, 1);
  const turn = <Value>(values: readonly [Value, ...Value[]], nth: number) => values[nth % values.length] ?? values[0];
  return bareTasks(count, (nth) => start + Math.floor((nth * yearMs) / count)).map((task, nth) => {
    const round = Math.floor(nth / 24);
    return {
      ...task,
      status: turn(taskStatuses, nth),
      priority: turn(taskPriorities, Math.floor(nth / 6)),
      ...(linked && round % 2 === 0 && { assignedAgent: turn(agents, Math.floor(round / 2)) }),
      ...(linked && round % 3 === 0 && { projectId: turn(projects, Math.floor(round / 3)) }),
    };
  });
}

/**
 * Returns the offsets of the middle, the last page, and the last entry of the fullest period, which reads the most
 * rows.
 */
function deepOffsets(ids: readonly string[]): number[] {
  const borders = [0, ...periodBorders(ids), ids.length];
  const sizes = borders.map((border, at) => border - (borders[at - 1] ?? 0));
  const fullest = borders[sizes.indexOf(Math.max(...sizes))] ?? 0;
  const offsets = [Math.floor(ids.length / 2), ids.length - 1 - ((ids.length - 1) % limit), fullest - 1];
  return [...new Set(offsets)].filter((offset) => offset > 0);
}

/** A list with the ids that it must have, and deep offsets to read. */
type ExpectedList = { filter: TaskFilter; ids: string[]; deep: number[] };

// The largest board has no agents and projects. Its only list is the largest.
describe.each([
  [100, true],
  [10_000, true],
  [100_000, false],
])('on a board of %i tasks over a year', (count, linked) => {
  let board: TestTable;
  let asked: ExpectedList[];
  let costOf: ReturnType<typeof meter>['costOf'];

  beforeAll(async () => {
    board = await createTestTable();
    ({ costOf } = meter(board.table));
    const tasks = tasksOfAYear(count, linked);
    asked = filters
      .filter(({ agent, project }) => linked || (!agent && !project))
      .map((filter) => ({ filter, ids: listed(tasks, filter) }))
      .map(({ filter, ids }) => ({ filter, ids, deep: deepOffsets(ids) }));
    const shown = new Set(
      asked.flatMap(({ ids, deep }) => [0, ...deep].flatMap((offset) => ids.slice(offset, offset + limit))),
    );
    await seed(board.table, board.organization, tasks, ({ id }) => shown.has(id));
  }, 280_000);

  /** Returns the pages that cost too much or have wrong tasks. */
  async function over(most: Omit<Cost, 'wcu'>, offsetsOf: (list: ExpectedList) => number[]): Promise<string[]> {
    const found: string[] = [];
    for (const list of asked) {
      const { filter, ids } = list;
      for (const offset of offsetsOf(list)) {
        const { page, cost } = await listAt(filter, offset);
        const expected = { ids: ids.slice(offset, offset + limit), total: ids.length };
        const right = isDeepStrictEqual({ ids: page.items.map(({ id }) => id), total: page.total }, expected);
        const tooExpensive =
          cost.requests > most.requests || cost.rounds > most.rounds || cost.rcu > most.rcu || cost.wcu > 0;
        if (tooExpensive || !right) found.push(JSON.stringify({ filter, offset, cost, right }));
      }
    }
    return found;
  }

  async function listAt(filter: TaskFilter, offset: number) {
    const pages: Awaited<ReturnType<typeof listTasks>>[] = [];
    const cost = await costOf(async () => {
      pages.push(await listTasks(board, board.organization, filter, { limit, offset }));
    });
    const [page = { items: [], total: 0 }] = pages;
    return { page, cost };
  }

  it('the first page costs at most 8 requests in 3 rounds and 40 read units with every filter', async () => {
    expect(await over(listLimits.firstPage, () => [0])).toEqual([]);
  });

  it('a page at a deep offset costs at most 26 requests in 3 rounds and 170 read units with every filter', async () => {
    expect(await over(listLimits.anyOffset, ({ deep }) => deep)).toEqual([]);
  });
});
