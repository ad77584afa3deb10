import { isDeepStrictEqual } from 'node:util';
import { expect, it } from 'vitest';
import { type TaskGroup, type TaskGrouping, taskPriorities, taskStatuses } from '../../../lib/contract/tasks/tasks.ts';
import { keys } from '../../../lib/table/access/keys.ts';
import { transact } from '../../../lib/table/access/transact.ts';
import type { TaskFilter } from '../../../lib/table/tasks/task-items.ts';
import { countTasks } from '../../../lib/tasks/task-counts.ts';
import { fc } from '../../seeded.ts';
import { type Known, taskLists } from './model.ts';
import { agents, createTestTable, type TestTable } from './test-table.ts';
import { script, write } from './writers.ts';

const nameOf = ({ status, priority, agent, project }: TaskFilter) => JSON.stringify([status, priority, agent, project]);

/** Reads the total of the list with each filter, and returns a function that returns the total of one. */
async function readTotals(lists: ReturnType<typeof taskLists>) {
  const totals = new Map<string, number>();
  for (const { filter, read } of lists) totals.set(nameOf(filter), (await read({ limit: 1, offset: 0 })).total);
  return (filter: TaskFilter): number => totals.get(nameOf(filter)) ?? 0;
}

/** Returns the counts that are not the totals of the lists with the same filters and the value of the group. */
async function wrongCounts(board: TestTable, tasks: readonly Known[]): Promise<string[]> {
  const lists = taskLists(board, tasks);
  const totalOf = await readTotals(lists);
  const withoutAgent = new Set(tasks.filter(({ assignedAgent }) => !assignedAgent).map(({ id }) => id));

  const groupOf = (filter: TaskFilter, name: 'status' | 'priority' | 'agent', value: string): TaskGroup => {
    const excluded = filter[name] !== undefined && filter[name] !== value;
    return { value, count: excluded ? 0 : totalOf({ ...filter, [name]: value }) };
  };
  const wantedGroups: Record<TaskGrouping, (list: (typeof lists)[number]) => TaskGroup[]> = {
    status: ({ filter }) => taskStatuses.map((value) => groupOf(filter, 'status', value)),
    priority: ({ filter }) => taskPriorities.map((value) => groupOf(filter, 'priority', value)),
    // No list has the tasks without an agent, so the plain model counts them.
    assigned_agent: ({ filter, ids }) =>
      [
        ...agents.toSorted().map((value) => groupOf(filter, 'agent', value)),
        { value: null, count: ids.filter((id) => withoutAgent.has(id)).length },
      ].filter(({ count }) => count > 0),
  };

  const found: string[] = [];
  for (const list of lists)
    for (const groupBy of Object.keys(wantedGroups) as TaskGrouping[]) {
      const { filter } = list;
      const counts = await countTasks(board, board.organization, filter, groupBy);
      const wanted = { groupBy, total: totalOf(filter), groups: wantedGroups[groupBy](list) };
      if (!isDeepStrictEqual(counts, wanted)) found.push(JSON.stringify({ filter, counts, wanted }));
    }
  return found;
}

it('counts are the totals of the lists after 16 concurrent writers, for every filter and field', async () => {
  await fc.assert(
    fc.asyncProperty(script(40), async (steps) => {
      const board = await createTestTable();
      const { tasks } = await write(board, steps);
      expect(await wrongCounts(board, tasks)).toEqual([]);
    }),
    { numRuns: 1, endOnFailure: true },
  );
});

it('counts by agent have no negative number while a task that the total does not have yet gets an agent', async () => {
  const board = await createTestTable();
  const list = keys.taskScope(board.organization, { agent: 'qa-reviewer' });
  await transact(board.table, [{ Put: { Item: { ...keys.listCounter(list, '01KD', 0), bm: 1 } } }]);
  expect(await countTasks(board, board.organization, {}, 'assigned_agent')).toEqual({
    groupBy: 'assigned_agent',
    total: 1,
    groups: [{ value: 'qa-reviewer', count: 1 }],
  });
});
