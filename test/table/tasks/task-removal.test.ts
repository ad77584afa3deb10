import { describe, expect, it } from 'vitest';
import { timestamp } from '../../../lib/contract/ids.ts';
import { delegateTask } from '../../../lib/executions/delegations.ts';
import { executeAgent } from '../../../lib/executions/executions.ts';
import { runPurge } from '../../../lib/executions/purges.ts';
import { graceMs, postponeDue, readDue } from '../../../lib/table/lists/due.ts';
import { purgeFrom, purgePartition } from '../../../lib/table/purges/purge-items.ts';
import { detachLimit } from '../../../lib/table/tasks/task-edges.ts';
import type { StoredTask } from '../../../lib/table/tasks/task-items.ts';
import { deleteTask, getTask, listTasks } from '../../../lib/tasks/tasks.ts';
import { dumpOf, itemsNaming } from '../fixtures/table-dump.ts';
import { type Watched, watchedTable } from '../fixtures/watched-table.ts';
import { projects } from './model.ts';
import { faultsOf, tasksOf } from './oracle.ts';
import { bareTasks, seed } from './seed.ts';
import { agents, always, createTestTable, errorOf, type TestTable } from './test-table.ts';

/** More dependents than are detached in the transaction of a deletion. */
const many = detachLimit + 5;

/** A board with a task that has two dependencies and `many` dependents, which are done. */
type TaskWithDependents = TestTable & { id: string; dependents: string[] };

async function createTaskWithDependents(): Promise<TaskWithDependents> {
  const board = await createTestTable();
  const [task, ...rest] = bareTasks(1 + 2 + many) as [StoredTask, ...StoredTask[]];
  const [dependencies, dependents] = [rest.slice(0, 2), rest.slice(2)];
  const idsOf = (tasks: StoredTask[]) => tasks.map(({ id }) => id).sort();
  const edges = { dependsOn: idsOf(dependencies), dependents: idsOf(dependents) };
  await seed(board.table, board.organization, [
    ...dependencies.map((one) => ({ ...one, dependents: [task.id] })),
    ...dependents.map((one) => ({ ...one, status: 'done' as const, dependsOn: [task.id] })),
    { ...task, assignedAgent: agents[0], projectId: projects[0], ...edges },
  ]);
  return { ...board, id: task.id, dependents: edges.dependents };
}

/** Deletes the task through a table that calls `before` for each request, and returns the error, if any. */
async function deleteThrough(board: TaskWithDependents, before: (request: Watched) => unknown) {
  const { table, idle } = watchedTable(board.table, before);
  const error = errorOf(deleteTask({ table, clock: board.clock }, board.organization, board.id, always));
  await error.catch(() => {});
  await idle();
  return error;
}

/** Deletes the task, and kills the deletion once the task is gone: its dependents still name it. */
async function deleteHalf(board: TaskWithDependents): Promise<void> {
  let decided = false;
  await deleteThrough(board, ({ names }) => {
    if (decided) throw new Error('killed');
    decided = names('"Delete"') && names('"dependents"');
  }).catch(() => {});
  expect(await naming(board)).toHaveLength(many);
}

/** The ids of the tasks that still depend on the task, as they are stored. */
const naming = async ({ table, organization, id }: TaskWithDependents) =>
  (await tasksOf(table, organization)).filter(({ dependsOn }) => dependsOn.includes(id)).map((task) => task.id);

const isThere = async (board: TaskWithDependents) =>
  (await errorOf(getTask(board, board.organization, board.id)))?.code !== 'not_found';

/** The status of what is read and listed: the task is in both or in none, and all lists and counts are correct. */
async function expectConsistent(board: TaskWithDependents, others = many + 2): Promise<void> {
  const there = await isThere(board);
  for (const filter of [{}, { status: 'backlog' as const }, { agent: agents[0] }, { project: projects[0] }]) {
    const { items, total } = await listTasks(board, board.organization, filter, { limit: 100, offset: 0 });
    expect(items.some(({ id }) => id === board.id)).toBe(there);
    expect(total).toBe(items.length);
    if (Object.keys(filter).length === 0) expect(total).toBe(others + (there ? 1 : 0));
  }
  expect(await faultsOf(board.table, board.organization)).toEqual([]);
}

/** Does what `purge-agent` does: runs every purge that is due. */
async function sweep(board: TaskWithDependents): Promise<number> {
  const overdue = await Array.fromAsync(readDue(board, [purgePartition], timestamp(board.clock() + graceMs)));
  for (const one of overdue) {
    const item = await postponeDue(board, one, timestamp(board.clock() + 2 * graceMs));
    if (item) await runPurge(board, purgeFrom(item));
  }
  return overdue.length;
}

/** The task is deleted, and nothing in the table names it any more. */
async function expectGone(board: TaskWithDependents): Promise<void> {
  expect(await isThere(board)).toBe(false);
  expect(itemsNaming(await dumpOf(board.table, board.organization), board.id)).toEqual([]);
}

/**
 * The requests of a deletion, counted from 0: the task is read, then its dependents; 2 deletes it; the purge is read, 35
 * dependents are read and detached, then the others; 8 deletes the purge.
 */
const steps = { deletes: 2, between: [0, 1, 2, 3, 5, 7, 8], kills: [2, 3, 4, 5, 6, 7, 8] };

describe('a deletion of a task with more done dependents than one transaction detaches', () => {
  it.each(steps.between)(
    'removes all edges or none where a dependent is taken up again before request %i',
    async (step) => {
      const board = await createTaskWithDependents();
      const last = board.dependents.at(-1) as string;
      const error = await deleteThrough(board, async ({ nth }) => {
        if (nth === step) await board.patch(last, { status: 'in_progress' });
      });
      if (error) {
        expect(error.code).toBe('has_dependents');
        expect(error.details[0]?.message).toContain(last);
        expect((await naming(board)).sort()).toEqual(board.dependents);
        expect(await isThere(board)).toBe(true);
      } else await expectGone(board);
      await expectConsistent(board);
      // Before the dependents are read it is refused; from the deletion on the dependent has lost its dependency.
      if (step < steps.deletes) expect(error?.code).toBe('has_dependents');
      if (step > steps.deletes) expect(error).toBeUndefined();
    },
  );

  it.each(steps.between)('is refused, or refuses a new dependent that comes before request %i', async (step) => {
    const board = await createTaskWithDependents();
    let created: string | undefined;
    const error = await deleteThrough(board, async ({ nth }) => {
      if (nth === step) created = (await errorOf(board.put({ dependsOn: [board.id] })))?.code ?? 'created';
    });
    const refused = [error?.code, created];
    if (step <= steps.deletes) expect(refused).toEqual(['has_dependents', 'created']);
    else expect(refused).toEqual([undefined, 'unknown_reference']);
    expect(await naming(board)).toHaveLength(step <= steps.deletes ? many + 1 : 0);
    await expectConsistent(board, many + 2 + (step <= steps.deletes ? 1 : 0));
  });

  it.each(steps.kills)(
    'that is killed at request %i has happened or not, and the sweeper does the rest',
    async (step) => {
      const board = await createTaskWithDependents();
      const killed = deleteThrough(board, ({ nth }) => {
        if (nth >= step) throw new Error('killed');
      });
      await killed.catch((error: Error) => expect(error.message).toBe('killed'));
      await expectConsistent(board);
      const there = await isThere(board);
      expect(there).toBe(step <= steps.deletes);
      expect(await sweep(board)).toBe(there ? 0 : 1);
      if (there) expect((await naming(board)).sort()).toEqual(board.dependents);
      const again = await errorOf(board.remove(board.id));
      expect(again?.code).toBe(there ? undefined : 'not_found');
      await expectGone(board);
      expect(await sweep(board)).toBe(0);
    },
  );

  it('is answered as done where the table is too busy to detach its dependents; the purge does that', async () => {
    const board = await createTaskWithDependents();
    const throttled = Object.assign(new Error('too much'), { name: 'ThrottlingException' });
    const error = await deleteThrough(board, ({ names }) => {
      if (names(':new_dependsOn')) throw throttled;
    });
    expect(error).toBeUndefined();
    expect(await isThere(board)).toBe(false);
    await expectConsistent(board);
    expect(await sweep(board)).toBe(1);
    await expectGone(board);
  });
});

describe('while dependents still name a task that is deleted', () => {
  it('they are read without it, and nothing else can be done with it', async () => {
    const board = await createTaskWithDependents();
    await deleteHalf(board);
    const { organization, dependents, id } = board;
    const { data } = await getTask(board, organization, dependents[0] as string);
    expect([data.dependsOn, data.blockedBy]).toEqual([[], []]);
    const code = async (attempt: Promise<unknown>) => (await errorOf(attempt))?.code;
    expect(await code(board.patch(id, { title: 'Still there?' }))).toBe('not_found');
    expect(await code(board.remove(id))).toBe('not_found');
    expect(await code(board.put({ dependsOn: [id] }))).toBe('unknown_reference');
    const [other, another] = [(await board.put()).id, (await board.put()).id];
    expect(await code(board.patch(other, { dependsOn: [id] }))).toBe('unknown_reference');
    const start = executeAgent(board.app, organization, agents[0], { input: 'Do it.', taskId: id }, undefined);
    expect(await code(start)).toBe('unknown_reference');
    const order = { toAgent: agents[1], taskId: id, instruction: 'Do it.' };
    const delegation = delegateTask(board.app, organization, agents[0], order, undefined);
    expect(await code(delegation)).toBe('unknown_reference');
    expect(await code(board.patch(other, { dependsOn: [another] }))).toBeUndefined();
    await expectConsistent(board, many + 4);
  });

  it('they can be changed, given other dependencies, worked on and deleted, and the purge finds the rest', async () => {
    const board = await createTaskWithDependents();
    await deleteHalf(board);
    const { organization, dependents } = board;
    const [renamed, freed, moved, reopened, gone] = dependents as [string, string, string, string, string];
    const other = (await board.put()).id;
    await board.patch(renamed, { title: 'Another' });
    await board.patch(freed, { dependsOn: [] });
    await board.patch(moved, { dependsOn: [other] });
    await board.patch(reopened, { status: 'backlog' });
    await board.remove(gone);
    await executeAgent(board.app, organization, agents[0], { input: 'Do it.', taskId: reopened }, undefined);
    await expectConsistent(board, many + 2);
    expect(await naming(board)).toHaveLength(many - 3);
    await sweep(board);
    await expectGone(board);
    await expectConsistent(board, many + 2);
    expect((await getTask(board, organization, moved)).data.dependsOn).toMatchObject([{ id: other }]);
    expect((await getTask(board, organization, reopened)).data).toMatchObject({ status: 'in_progress', dependsOn: [] });
  });

  it('two workers at once, and changes that come between, leave none that names it', async () => {
    const board = await createTaskWithDependents();
    await deleteHalf(board);
    const purge = { organization: board.organization, taskId: board.id };
    let changes = 0;
    const { table } = watchedTable(board.table, async ({ names }) => {
      const changed = board.dependents[changes];
      if (!names(':new_dependsOn') || !changed || changes >= 5) return;
      changes += 1;
      await board.patch(changed, { title: `Change ${changes}` });
    });
    const contexts = [table, board.table].map((one) => ({ table: one, clock: board.clock }));
    await Promise.all(contexts.map((context) => runPurge(context, purge)));
    await expectGone(board);
    await expectConsistent(board);
    await Promise.all(contexts.map((context) => runPurge(context, purge)));
  });
});
