import { expect, it } from 'vitest';
import { deleteTask, listTasks, updateTask } from '../../../lib/tasks/tasks.ts';
import { listed } from './model.ts';
import { always, createTestTable } from './test-table.ts';

const firstPage = { limit: 5, offset: 0 };

it('each of 200 new tasks is in the next list, and the total is exact', async () => {
  const board = await createTestTable();
  const { put, organization, clock } = board;
  const missed: string[] = [];
  for (let nth = 1; nth <= 200; nth++) {
    clock.now += 1;
    const { id } = await put();
    const { items, total } = await listTasks(board, organization, {}, firstPage);
    if (items[0]?.id !== id || total !== nth) missed.push(id);
  }
  expect(missed).toEqual([]);
});

it('each of 20 tasks with a new status is in the next list of that status and not in the list of the old one', async () => {
  const board = await createTestTable();
  const { put, organization } = board;
  const { id } = await put({ assignedAgent: 'qa-reviewer', projectId: 'proj_apollo' });
  const missed: number[] = [];
  for (let nth = 1; nth <= 20; nth++) {
    const [status, left] = nth % 2 ? (['done', 'backlog'] as const) : (['backlog', 'done'] as const);
    await updateTask(board, organization, id, { status }, always);
    const inNew = await listTasks(board, organization, { status, agent: 'qa-reviewer' }, firstPage);
    const inOld = await listTasks(board, organization, { status: left, project: 'proj_apollo' }, firstPage);
    if (inNew.items[0]?.id !== id || inNew.total !== 1 || inOld.items.length > 0 || inOld.total > 0) missed.push(nth);
  }
  expect(missed).toEqual([]);
});

it('a deleted task is in no list and no total after the response', async () => {
  const board = await createTestTable();
  const { put, organization } = board;
  const kept = await put({ assignedAgent: 'qa-reviewer', projectId: 'proj_apollo' });
  const gone = await put({ assignedAgent: 'qa-reviewer', projectId: 'proj_apollo' });
  await deleteTask(board, organization, gone.id, always);
  for (const filter of [{}, { agent: 'qa-reviewer' }, { project: 'proj_apollo' }, { status: 'backlog' as const }]) {
    const { items, total } = await listTasks(board, organization, filter, firstPage);
    expect({ ids: items.map(({ id }) => id), total }).toEqual({ ids: listed([kept], filter), total: 1 });
  }
});
