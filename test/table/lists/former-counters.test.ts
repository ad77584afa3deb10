import { unmarshall } from '@aws-sdk/util-dynamodb';
import { expect, it } from 'vitest';
import { keys, organizationOf } from '../../../lib/table/access/keys.ts';
import { createTask, deleteTask, updateTask } from '../../../lib/tasks/tasks.ts';
import { answersOf } from '../../infra/local/upgrade/former-folders.ts';
import { taskLists } from '../tasks/model.ts';
import { tasksOf } from '../tasks/oracle.ts';
import { writeItems } from '../tasks/seed.ts';
import { always, createTestTable, newTask } from '../tasks/test-table.ts';
import { differences } from './model.ts';

// These versions counted each task in one of four shards. The lists of 0.1.0 are exact after the command of the upgrade notes.
it.each(['0.2.0', 'last-engine'] as const)(
  'lists of tasks that %s has counted in several shards are exact, also after changes by this version',
  async (version) => {
    const items = answersOf(version).items.map((item) => unmarshall(item as never));
    const organization = organizationOf(items.find(({ kind }) => kind === 'task')?.pk);
    const { counters } = keys.taskScope(organization, {});
    expect(items.filter(({ pk }) => pk === counters).length).toBeGreaterThan(1);

    const board = { ...(await createTestTable()), organization };
    await writeItems(board.table, items);
    const former = await tasksOf(board.table, organization);
    const wrongPages = async () => differences(taskLists(board, await tasksOf(board.table, organization)), 4);
    expect(await wrongPages()).toEqual([]);

    for (const { id, status } of former)
      await updateTask(board, organization, id, { status: status === 'done' ? 'backlog' : 'done' }, always);
    for (const { id } of former.slice(0, 3)) await deleteTask(board, organization, id, always);
    await createTask(board, organization, newTask(), undefined);
    expect(await wrongPages()).toEqual([]);
  },
);
