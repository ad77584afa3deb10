import { describe, expect, it } from 'vitest';
import type { TaskDetail } from '../../../lib/contract/tasks/tasks.ts';
import { dataOf, versionOf } from '../../api.ts';
import { newForEachTest } from '../../caller.ts';
import { createTaskCallers } from './task-caller.ts';

const { newTaskCaller } = await createTaskCallers();
const absent = 'tk_01K00000000000000000000000';
const caller = newForEachTest(newTaskCaller);

const read = (id: string) => caller.getTask({ params: { id } });
const required = ['id', 'title', 'status', 'priority', 'dependsOn', 'createdAt', 'updatedAt', 'blockedBy'];

describe('a read of a task', () => {
  it('answers exactly the set fields, dependsOn and blockedBy', async () => {
    const answer = await read(await caller.put());
    expect(answer.status).toBe(200);
    expect(Object.keys(answer.body)).toEqual(['success', 'data']);
    expect(Object.keys(dataOf(answer))).toEqual(required);
    expect(dataOf(answer)).toMatchObject({ dependsOn: [], blockedBy: [] });
  });

  it('answers the optional fields that are set', async () => {
    const set = { description: '', assignedAgent: 'qa-reviewer', projectId: 'proj_1' };
    const task = dataOf(await read(await caller.put(set)));
    expect(task).toMatchObject(set);
    expect(Object.keys(task).sort()).toEqual([...required, ...Object.keys(set)].sort());
  });

  it.each(['a\u0000b', '\u200b', '\u0007'])(
    'answers the title %j of an earlier version, and lets the status be changed',
    async (title) => {
      const id = await caller.put();
      await caller.setAttribute(id, 'title', title);
      expect(dataOf(await read(id))).toMatchObject({ title });
      const answer = await caller.updateTask({ params: { id }, body: { status: 'done' } });
      expect(dataOf(answer)).toMatchObject({ title, status: 'done' });
    },
  );

  it('expands the dependencies in the given order as they are now, and names those that are not done as blockers', async () => {
    const first = await caller.put({ title: 'First' });
    const second = await caller.put({ title: 'Second', status: 'done' });
    const third = await caller.put({ title: 'Third' });
    const id = await caller.put({ dependsOn: [third, first, second] });
    await caller.updateTask({ params: { id: first }, body: { title: 'Renamed', status: 'in_progress' } });
    const { dependsOn, blockedBy } = dataOf<TaskDetail>(await read(id));
    expect(dependsOn).toEqual([
      { id: third, title: 'Third', status: 'backlog' },
      { id: first, title: 'Renamed', status: 'in_progress' },
      { id: second, title: 'Second', status: 'done' },
    ]);
    expect(blockedBy).toEqual(dependsOn.slice(0, 2));
  });

  it('has the ETag of its version, which being depended on does not change', async () => {
    const id = await caller.put();
    expect(versionOf(await read(id))).toBe(1);
    await caller.put({ dependsOn: [id] });
    const answer = await read(id);
    expect(versionOf(answer)).toBe(1);
    expect(dataOf(answer).updatedAt).toBe(dataOf(answer).createdAt);
  });
});

it('a read is refused with one 404 not_found, whether the task is absent, deleted, foreign or impossible', async () => {
  const other = await newTaskCaller();
  const deleted = await caller.put();
  await caller.deleteTask({ params: { id: deleted } });
  const errors = [];
  for (const id of [absent, deleted, await other.put(), 'impossible']) {
    const { requestId, ...error } = await caller.refuses(() => read(id), 404, 'not_found');
    errors.push(error);
  }
  expect(errors).toEqual(Array(4).fill(errors[0]));
});
