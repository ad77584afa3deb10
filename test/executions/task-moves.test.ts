import { describe, expect, it } from 'vitest';
import { ulidOf } from '../../lib/contract/ids.ts';
import type { TaskPatch } from '../../lib/contract/tasks/tasks.ts';
import { runExecution } from '../../lib/executions/run/run-execution.ts';
import { readExecutionHead } from '../../lib/table/executions/executions.ts';
import { changeTask } from '../../lib/table/tasks/tasks.ts';
import { deleteTask, updateTask } from '../../lib/tasks/tasks.ts';
import { watchedTable } from '../table/fixtures/watched-table.ts';
import { always } from '../table/tasks/test-table.ts';
import { createTestExecutions, scriptedModel, text } from './test-executions.ts';

const fixture = await createTestExecutions({ cap: 1_000 });
const { organization, clock, timeline } = fixture;
const patch = (id: string, fields: TaskPatch) => updateTask(fixture.app, organization, id, fields, always);

/** Runs an execution on a new task; returns the execution, and the task before and after its end. */
async function runOnTask(
  says: Parameters<typeof scriptedModel>[0],
  meanwhile: (taskId: string) => unknown = () => {},
  fields: Parameters<typeof fixture.addTask>[0] = {},
) {
  const { id } = await fixture.addTask({ projectId: 'proj_one', ...fields });
  const message = await fixture.start({ taskId: id });
  let before: Awaited<ReturnType<typeof fixture.task>>;
  const work = async () => {
    await meanwhile(id);
    clock.now += 1_000;
    before = await fixture.task(id);
    return text('Done.', 100);
  };
  await fixture.finish(message, scriptedModel({ work, ...says }).tools);
  return { execution: await fixture.execution(message), before, task: await fixture.task(id) };
}

const pass = text('VERDICT: PASS');
const fail = text('VERDICT: FAIL');
const none = text('Well.');

it.each([
  ['up_for_review', 'both gates passed', { selfTest: pass, qaReview: pass }],
  ['qa_review', 'the self-test failed', { selfTest: fail, qaReview: pass }],
  ['qa_review', 'the review failed', { selfTest: pass, qaReview: fail }],
  ['qa_review', 'the self-test was skipped', { selfTest: none, qaReview: pass }],
  ['qa_review', 'the review was skipped', { selfTest: pass, qaReview: none }],
  ['assigned', 'the execution failed', { work: { kind: 'failed', error: 'No.', tokens: 1 } }],
] as const)('the task of an execution moves to %s if %s, and has no owner any more', async (status, _, says) => {
  const { task, execution } = await runOnTask(says);
  expect(task).toMatchObject({ status, assignedAgent: 'writer', updatedAt: execution?.completedAt });
  expect(task).not.toHaveProperty('owner');
});

it('a task keeps the id of the last execution on it that completed', async () => {
  const { task, execution } = await runOnTask({});
  expect(task?.lastExecution).toBe(execution?.id);
  const taskId = task?.id as string;
  await patch(taskId, { status: 'assigned' });
  const says = { work: { kind: 'failed', error: 'No.', tokens: 1 } } as const;
  await fixture.finish(await fixture.start({ taskId }), scriptedModel(says).tools);
  expect(await fixture.task(taskId)).toMatchObject({ status: 'assigned', lastExecution: execution?.id });
});

it('the task of an execution moves even if its other fields have changed', async () => {
  const { task } = await runOnTask({}, (id) => patch(id, { title: 'Renamed', priority: 'critical' }));
  expect(task).toMatchObject({ title: 'Renamed', priority: 'critical', status: 'up_for_review' });
});

describe('the task fields that an execution stores for filters of webhooks', () => {
  const stored = async (id = '') => (await readExecutionHead(fixture, { organization, id }))?.taskFields;

  it('are those of its task after the start, and after the end those at its end', async () => {
    const atStart = { projectId: 'proj_one', assignedAgent: 'writer' };
    const { execution } = await runOnTask({}, async (id) => {
      const { owner } = (await fixture.task(id)) ?? {};
      expect(await stored(owner)).toEqual(atStart);
      await patch(id, { projectId: null, assignedAgent: 'qa-reviewer' });
    });
    expect(await stored(execution?.id)).toEqual({ assignedAgent: 'qa-reviewer' });
  });

  it('stay if its task is deleted', async () => {
    const { execution } = await runOnTask({}, (id) => deleteTask(fixture.app, organization, id, always));
    expect(await stored(execution?.id)).toEqual({ projectId: 'proj_one', assignedAgent: 'writer' });
  });

  it('are absent for an execution without a task', async () => {
    const message = await fixture.start();
    await fixture.finish(message, scriptedModel().tools);
    expect(await stored(message.executionId)).toBeUndefined();
  });
});

const statuses = ['backlog', 'assigned', 'qa_review', 'up_for_review', 'done'] as const;

/** Makes another execution own a task: the first worker seems lost and is not. */
async function own(id: string): Promise<void> {
  const task = await fixture.task(id);
  if (!task) throw new Error('There is no task.');
  await changeTask(fixture, organization, task, { ...task, owner: 'ex_another', version: task.version + 1 });
}

it.each<[string, (id: string) => unknown, object]>([
  ...statuses.map((status) => [`was moved to ${status}`, (id: string) => patch(id, { status }), {}] as never),
  ['was deleted', (id) => deleteTask(fixture.app, organization, id, always), {}],
  ['is owned by another execution', own, {}],
  ['was done before the start, so the execution never owned it', () => {}, { status: 'done' }],
])('an execution ends and does not move its task if the task %s', async (_, meanwhile, fields) => {
  const { execution, before, task } = await runOnTask({}, meanwhile, fields);
  expect(execution).toMatchObject({ status: 'completed', output: 'Done.', tokensUsed: 111 });
  // Its result is known to reviewers, which is no change of the task.
  const by = expect.objectContaining({ kind: 'agent', executionId: execution?.id });
  expect(task).toEqual(before && { ...before, endedExecution: execution?.id, by });
});

describe('a task that changes between its read and the end', () => {
  /** Runs an execution whose task is renamed after each of `changes` reads of it at the end. */
  async function runDisturbed(changes: number) {
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
    const { reads, execution, task } = await runDisturbed(2);
    expect([reads, execution?.status]).toEqual([3, 'completed']);
    expect(task).toMatchObject({ title: 'Read 2', status: 'up_for_review' });
  });

  it('after each of three reads does not move: the execution ends without it', async () => {
    const { reads, execution, task } = await runDisturbed(Number.POSITIVE_INFINITY);
    expect(reads).toBe(3);
    expect(execution).toMatchObject({ status: 'completed', output: 'Done.' });
    expect(task).toMatchObject({ title: 'Read 3', status: 'in_progress', owner: execution?.id });
  });
});
