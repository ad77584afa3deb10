import { beforeEach, describe, expect, it } from 'vitest';
import { ulidOf } from '../../../lib/contract/ids.ts';
import { taskStatuses } from '../../../lib/contract/tasks/tasks.ts';
import { keys } from '../../../lib/table/access/keys.ts';
import { transact } from '../../../lib/table/access/transact.ts';
import { everything } from '../../../lib/table/lists/listing.ts';
import type { TaskFilter } from '../../../lib/table/tasks/task-items.ts';
import { listTasks } from '../../../lib/tasks/tasks.ts';
import { fc } from '../../seeded.ts';
import { taskLists } from '../tasks/model.ts';
import { bareTasks, seed } from '../tasks/seed.ts';
import { createTestTable, type TestTable } from '../tasks/test-table.ts';
import { script, write } from '../tasks/writers.ts';
import { differences } from './model.ts';

let board: TestTable;
beforeEach(async () => {
  board = await createTestTable();
});

/** The offsets of the first page, of the second one, and of the end. */
const fewOffsets = ({ length }: readonly string[], limit: number) => [...new Set([0, Math.min(limit, length), length])];

// listing.slow.test.ts runs more steps.
it('lists have the items of a plain model after 16 concurrent writers, for every filter and offset', async () => {
  await fc.assert(
    fc.asyncProperty(script(40), async (steps) => {
      const { tasks, missed } = await write(board, steps);
      expect(missed).toEqual([]);
      expect(await board.faults()).toEqual([]);
      expect(await differences(taskLists(board, tasks), 4, fewOffsets)).toEqual([]);
    }),
    { numRuns: 1, endOnFailure: true },
  );
});

/** Puts a row without an item, as a reader sees it while a write is under way. */
const putRow = (facet: string, ulid: string, filter: { agent?: string; project?: string } = {}) =>
  transact(board.table, [{ Put: { Item: keys.listRow(keys.taskScope(board.organization, filter), facet, ulid) } }]);

const idsOf = async (filter: TaskFilter) => {
  const { items } = await listTasks(board, board.organization, filter, { limit: 20, offset: 0 });
  return items.map(({ id }) => id);
};

describe('a list during a write', () => {
  it('shows a task once that has rows of two facets, and leaves out a row whose item was deleted', async () => {
    const { id } = await board.put({ status: 'done', priority: 'low' });
    await putRow('bl', ulidOf(id));
    await putRow('bl', `${ulidOf(id).slice(0, 10)}0000000000000000`);
    expect(await idsOf({ priority: 'low' })).toEqual([id]);
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
