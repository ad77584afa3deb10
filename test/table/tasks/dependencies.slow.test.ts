import { expect, it } from 'vitest';
import { updateTask } from '../../../lib/tasks/tasks.ts';
import { faultsOf, ringAmong, tasksOf } from './oracle.ts';
import { bareTasks, seed } from './seed.ts';
import { always, createTestTable, errorOf } from './test-table.ts';

it('sixteen writers that add dependencies without a pause all succeed or close a cycle', async () => {
  const context = await createTestTable();
  const { table, organization } = context;
  const board = bareTasks(100);
  await seed(table, organization, board);
  const codes: (string | undefined)[] = [];
  const queue = board.entries();
  const writer = async () => {
    for (const [at, { id }] of queue) {
      const dependsOn = [board[(at * 37 + 1) % board.length]?.id ?? ''];
      codes.push((await errorOf(updateTask(context, organization, id, { dependsOn }, always)))?.code);
    }
  };
  await Promise.all(Array.from({ length: 16 }, writer));
  expect(codes.filter((code) => code !== undefined && code !== 'dependency_cycle')).toEqual([]);
  const tasks = await tasksOf(table, organization);
  expect(ringAmong(tasks)).toBeUndefined();
  expect(await faultsOf(table, organization)).toEqual([]);
});
