import { beforeEach, expect, it } from 'vitest';
import { transactionLimit } from '../../lib/table/access/transact.ts';
import { idempotencyRecordWrites } from '../../lib/table/idempotency.ts';
import { detachLimit } from '../../lib/table/tasks/task-edges.ts';
import type { StoredTask } from '../../lib/table/tasks/task-items.ts';
import { readTask } from '../../lib/table/tasks/tasks.ts';
import { meter } from './fixtures/capacity.ts';
import { projects } from './tasks/model.ts';
import { bareTasks, seed } from './tasks/seed.ts';
import { agents, createTestTable, type TestTable } from './tasks/test-table.ts';

let board: TestTable;
let metered: ReturnType<typeof meter>;
beforeEach(async () => {
  board = await createTestTable();
  metered = meter(board.table);
});

const idsOf = (tasks: StoredTask[]) => tasks.map(({ id }) => id);
const [assignedAgent, otherAgent] = agents;
const [projectId, otherProject] = projects;

it('a creation and a change of all fields, with 25 dependencies and an Idempotency-Key, are one transaction', async () => {
  const tasks = bareTasks(50);
  await seed(board.table, board.organization, tasks);
  const [before, after] = [idsOf(tasks.slice(0, 25)), idsOf(tasks.slice(25))];
  const request = { key: 'k', operation: 'o', path: '/', body: {} };
  const record = (response: unknown) =>
    idempotencyRecordWrites(board.app, board.organization, request, { data: response });
  let id = '';
  const creation = await metered.transactionsOf(async () => {
    ({ id } = await board.put({ assignedAgent, projectId, dependsOn: before }, record));
  });
  const patch = {
    ...({ title: 'Another', description: 'Changed', status: 'done', priority: 'low' } as const),
    ...{ assignedAgent: otherAgent, projectId: otherProject, dependsOn: after },
  };
  const change = await metered.transactionsOf(() => board.patch(id, patch));
  expect([creation.length, change.length]).toEqual([1, 1]);
  expect(Math.max(...creation, ...change)).toBeLessThanOrEqual(transactionLimit);
  expect(await board.faults()).toEqual([]);
});

it.each([detachLimit, 500])(
  'a deletion with 25 dependencies and %i done dependents has no transaction over the limit',
  async (count) => {
    const [task, ...rest] = bareTasks(1 + 25 + count) as [StoredTask, ...StoredTask[]];
    const [dependencies, dependents] = [rest.slice(0, 25), rest.slice(25)];
    const { id } = task;
    await seed(board.table, board.organization, [
      ...dependencies.map((one) => ({ ...one, dependents: [id] })),
      ...dependents.map((one) => ({ ...one, status: 'done' as const, dependsOn: [id] })),
      { ...task, assignedAgent, projectId, dependsOn: idsOf(dependencies), dependents: idsOf(dependents) },
    ]);
    const sizes = await metered.transactionsOf(() => board.remove(id));
    expect(sizes.filter((size) => size > transactionLimit)).toEqual([]);
    expect(await readTask(board, board.organization, id)).toBeUndefined();
    expect(await board.faults()).toEqual([]);
  },
);
