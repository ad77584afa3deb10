import { describe, expect, it } from 'vitest';
import type { TaskDetail } from '../../../lib/contract/tasks.ts';
import { dataOf } from '../../api.ts';
import { createTaskCallers } from './task-caller.ts';

const { newTaskCaller } = await createTaskCallers();
const absent = 'tk_01K00000000000000000000000';

describe('a read of a task', () => {
  it('answers exactly the set fields, dependsOn and blockedBy', async () => {
    const caller = await newTaskCaller();
    const answer = await caller.getTask({ params: { id: await caller.put({ title: 'A bare task' }) } });
    expect(answer.status).toBe(200);
    expect(Object.keys(answer.body)).toEqual(['success', 'data']);
    expect(Object.keys(dataOf(answer)).sort()).toEqual([
      'blockedBy',
      'createdAt',
      'dependsOn',
      'id',
      'priority',
      'status',
      'title',
      'updatedAt',
    ]);
    expect(dataOf(answer)).toMatchObject({ dependsOn: [], blockedBy: [] });
  });

  it('answers the optional fields that are set', async () => {
    const caller = await newTaskCaller();
    const set = { description: '', assignedAgent: 'qa-reviewer', projectId: 'proj_1' };
    const answer = await caller.getTask({ params: { id: await caller.put(set) } });
    expect(dataOf(answer)).toMatchObject(set);
    expect(Object.keys(dataOf(answer))).toHaveLength(11);
  });

  it('expands the dependencies in the given order, and names those that are not done as blockers', async () => {
    const caller = await newTaskCaller();
    const first = await caller.put({ title: 'First', status: 'in_progress' });
    const second = await caller.put({ title: 'Second', status: 'done' });
    const third = await caller.put({ title: 'Third' });
    const answer = await caller.getTask({ params: { id: await caller.put({ dependsOn: [third, first, second] }) } });
    expect(dataOf<TaskDetail>(answer).dependsOn).toEqual([
      { id: third, title: 'Third', status: 'backlog' },
      { id: first, title: 'First', status: 'in_progress' },
      { id: second, title: 'Second', status: 'done' },
    ]);
    expect(dataOf<TaskDetail>(answer).blockedBy).toEqual([
      { id: third, title: 'Third', status: 'backlog' },
      { id: first, title: 'First', status: 'in_progress' },
    ]);
  });

  it('shows dependencies as they are now', async () => {
    const caller = await newTaskCaller();
    const first = await caller.put({ title: 'Before' });
    const second = await caller.put({ dependsOn: [first] });
    await caller.updateTask({ params: { id: first }, body: { title: 'After', status: 'done' } });
    const { dependsOn, blockedBy } = dataOf<TaskDetail>(await caller.getTask({ params: { id: second } }));
    expect(dependsOn).toEqual([{ id: first, title: 'After', status: 'done' }]);
    expect(blockedBy).toEqual([]);
  });

  it('has the version as its ETag, which being depended on does not change', async () => {
    const caller = await newTaskCaller();
    const id = await caller.put();
    expect((await caller.getTask({ params: { id } })).headers.ETag).toBe('"1"');
    await caller.put({ dependsOn: [id] });
    const answer = await caller.getTask({ params: { id } });
    expect(answer.headers.ETag).toBe('"1"');
    expect(dataOf(answer).updatedAt).toBe(dataOf(answer).createdAt);
  });
});

describe('a read of a task is refused', () => {
  it('with 404 not_found for a task that does not exist', async () => {
    const caller = await newTaskCaller();
    await caller.refuses(() => caller.getTask({ params: { id: absent } }), 404, 'not_found');
  });

  it('with 404 not_found for a task that was deleted', async () => {
    const caller = await newTaskCaller();
    const id = await caller.put();
    await caller.deleteTask({ params: { id } });
    await caller.refuses(() => caller.getTask({ params: { id } }), 404, 'not_found');
  });

  it("with 404 not_found for another organization's task", async () => {
    const [caller, other] = [await newTaskCaller(), await newTaskCaller()];
    const theirs = await other.put();
    await caller.refuses(() => caller.getTask({ params: { id: theirs } }), 404, 'not_found');
  });

  it.each([
    'tk_1',
    'ag_01K00000000000000000000000',
    '01K00000000000000000000000',
    absent.toLowerCase(),
    `${absent}0`,
    `${absent}\n`,
    'tk_81K00000000000000000000000',
    'tk_01KIIIIIIIIIIIIIIIIIIIIIII',
    '__proto__',
    'constructor',
    '..',
    '%2e%2e',
    '%',
    '%ZZ',
    '\u0000',
    '#',
    ' ',
    '😀',
  ])('with 404 not_found for the impossible id %j', async (id) => {
    const caller = await newTaskCaller();
    await caller.refuses(() => caller.getTask({ params: { id } }), 404, 'not_found');
  });

  it('with 404 not_found for an id of 10 KB', async () => {
    const caller = await newTaskCaller();
    await caller.refuses(() => caller.getTask({ params: { id: 'x'.repeat(10_240) } }), 404, 'not_found');
  });

  it('with one and the same answer, whether the task is absent, foreign or impossible', async () => {
    const [caller, other] = [await newTaskCaller(), await newTaskCaller()];
    const answers = [];
    for (const id of [absent, await other.put(), 'impossible']) {
      const { requestId: _, ...said } = await caller.refuses(
        () => caller.getTask({ params: { id } }),
        404,
        'not_found',
      );
      answers.push(said);
    }
    expect(answers[1]).toEqual(answers[0]);
    expect(answers[2]).toEqual(answers[0]);
  });

  it('with 400 validation_failed for a query, which it does not take', async () => {
    const caller = await newTaskCaller();
    const id = await caller.put();
    const error = await caller.refuses(
      () => caller.getTask({ params: { id }, query: 'expand=1' }),
      400,
      'validation_failed',
    );
    expect(error.details).toMatchObject([{ path: 'expand', code: 'unknown_field' }]);
  });

  it('with 401 unauthorized without a token', async () => {
    const caller = await newTaskCaller();
    const id = await caller.put();
    await caller.refuses(() => caller.getTask({ params: { id }, token: undefined }), 401, 'unauthorized');
  });

  it('with 403 insufficient_scope by a token that may only write tasks', async () => {
    const caller = await newTaskCaller(['tasks:write']);
    await caller.refuses(() => caller.getTask({ params: { id: absent } }), 403, 'insufficient_scope');
  });
});
