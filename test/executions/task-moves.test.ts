import { describe, expect, it } from 'vitest';
import { ulidOf } from '../../lib/contract/ids.ts';
import type { TaskPatch } from '../../lib/contract/tasks.ts';
import { runExecution } from '../../lib/executions/run-execution.ts';
import { changeTask } from '../../lib/table/tasks/tasks.ts';
import { deleteTask, updateTask } from '../../lib/tasks/tasks.ts';
import { watchedTable } from '../table/fixtures/watched-table.ts';
import { createTestExecutions, scriptedModel, text } from './test-executions.ts';

const fixture = await createTestExecutions({ cap: 1_000 });
const { organization, clock, timeline } = fixture;
const anyVersion = () => {};
const patch = (id: string, fields: TaskPatch) => updateTask(fixture.app, organization, id, fields, anyVersion);

/** Runs an execution on a new task, and calls `meanwhile` before its model answers. */
async function onTask(says: Parameters<typeof scriptedModel>[0], meanwhile: (taskId: string) => unknown = () => {}) {
  const { id } = await fixture.addTask({ projectId: 'proj_one' });
  const message = await fixture.start({ taskId: id });
  const work = async () => {
    await meanwhile(id);
    clock.now += 1_000;
    return text('Done.', 100);
  };
  await fixture.finish(message, scriptedModel({ work, ...says }).tools);
  return { id, message, execution: await fixture.execution(message), task: await fixture.task(id) };
}

describe('the task of an execution', () => {
  const pass = text('VERDICT: PASS');
  const fail = text('VERDICT: FAIL');
  const none = text('Well.');

  it.each([
    ['up_for_review', 'both gates passed', pass, pass],
    ['qa_review', 'the self-test failed', fail, pass],
    ['qa_review', 'the review failed', pass, fail],
    ['qa_review', 'the self-test was skipped', none, pass],
    ['qa_review', 'the review was skipped', pass, none],
  ] as const)('moves to %s if %s, and has no owner any more', async (status, _, selfTest, qaReview) => {
    const { task, execution } = await onTask({ selfTest, qaReview });
    expect(task).toMatchObject({ status, assignedAgent: 'writer', updatedAt: execution?.completedAt });
    expect(task).not.toHaveProperty('owner');
  });

  it('moves back to assigned if the execution fails', async () => {
    const error = 'The model refused to do this.';
    const { task } = await onTask({ work: { kind: 'failed', error, tokens: 1 } });
    expect(task).toMatchObject({ status: 'assigned', assignedAgent: 'writer' });
    expect(task).not.toHaveProperty('owner');
  });

  it('moves even if its other fields have changed', async () => {
    const { task } = await onTask({}, (id) => patch(id, { title: 'Renamed', priority: 'critical' }));
    expect(task).toMatchObject({ title: 'Renamed', priority: 'critical', status: 'up_for_review' });
  });
});

describe('an execution ends and does not change its task if the task', () => {
  const completed = { status: 'completed', output: 'Done.', tokensUsed: 111 };

  it.each(['backlog', 'assigned', 'qa_review', 'up_for_review', 'done'] as const)(
    'was moved to %s during the execution',
    async (status) => {
      let moved: unknown;
      const { execution, task } = await onTask({}, async (id) => {
        await patch(id, { status });
        moved = await fixture.task(id);
      });
      expect(execution).toMatchObject(completed);
      expect(task).toEqual(moved);
      expect(task?.status).toBe(status);
    },
  );

  it('was deleted during the execution', async () => {
    const { execution, task } = await onTask({}, (id) => deleteTask(fixture.app, organization, id, anyVersion));
    expect(execution).toMatchObject(completed);
    expect(task).toBeUndefined();
  });

  it('is owned by another execution', async () => {
    const { id } = await fixture.addTask();
    const first = await fixture.start({ taskId: id });
    let owned: unknown;
    const work = async () => {
      // The first worker seems lost and is not: another execution owns the task before the first one ends.
      const before = await fixture.task(id);
      if (!before) throw new Error('There is no task.');
      await changeTask(fixture, organization, before, {
        ...before,
        owner: 'ex_another',
        version: before.version + 1,
      });
      owned = await fixture.task(id);
      return text('Done.', 100);
    };
    await fixture.finish(first, scriptedModel({ work }).tools);
    expect(await fixture.execution(first)).toMatchObject(completed);
    expect(await fixture.task(id)).toEqual(owned);
  });

  it('was done before the start, so the execution never owned it', async () => {
    const { id } = await fixture.addTask({ status: 'done' });
    const before = await fixture.task(id);
    await fixture.finish(await fixture.start({ taskId: id }), scriptedModel().tools);
    expect(await fixture.task(id)).toEqual(before);
  });
});

describe('a task that changes between its read and the end', () => {
  /** Runs an execution whose task is renamed after each of `changes` reads of it at the end. */
  async function disturbed(changes: number) {
    const { id } = await fixture.addTask();
    const message = await fixture.start({ taskId: id });
    let reads = 0;
    let done = false;
    // Before each write of the end, which follows a read.
    const { table } = watchedTable(fixture.context.table, async ({ writes, names }) => {
      if (done && writes && names(`"sk":"${ulidOf(id)}"`) && ++reads <= changes)
        await patch(id, { title: `Read ${reads}` });
    });
    const work = () => {
      done = true;
      return text('Done.', 100);
    };
    await timeline.finish(runExecution({ ...fixture.context, table }, message, scriptedModel({ work }).tools));
    return { reads, execution: await fixture.execution(message), task: await fixture.task(id) };
  }

  it('is read again, and moves', async () => {
    const { reads, execution, task } = await disturbed(2);
    expect(reads).toBe(3);
    expect(execution).toMatchObject({ status: 'completed' });
    expect(task).toMatchObject({ title: 'Read 2', status: 'up_for_review' });
  });

  it('after each of three reads does not move: the execution ends without it', async () => {
    const { reads, execution, task } = await disturbed(Number.POSITIVE_INFINITY);
    expect(reads).toBe(3);
    expect(execution).toMatchObject({ status: 'completed', output: 'Done.' });
    expect(task).toMatchObject({ title: 'Read 3', status: 'in_progress', owner: execution?.id });
  });
});
