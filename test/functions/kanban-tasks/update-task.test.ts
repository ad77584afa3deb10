import { describe, expect, it, vi } from 'vitest';
import type { TaskDetail } from '../../../lib/contract/tasks/tasks.ts';
import { dataOf, versionOf } from '../../api.ts';
import { newForEachTest } from '../../caller.ts';
import { allDependents, createTaskCallers } from './task-caller.ts';

vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-03-01T12:00:00.000Z') });

const { newTaskCaller } = await createTaskCallers();
const absent = 'tk_01K00000000000000000000000';
const caller = newForEachTest(newTaskCaller);

/** Lets a minute pass. */
const wait = () => vi.setSystemTime(Date.now() + 60_000);

const update = (id: string, body?: unknown) => caller.updateTask({ params: { id }, body });
const read = (id: string) => caller.getTask({ params: { id } });
const refused = (id: string, body: unknown, status: number, code: string) =>
  caller.refuses(() => update(id, body), status, code);

describe('a patch', () => {
  it('answers the task with exactly the set fields, dependsOn as ids and no blockedBy', async () => {
    const first = await caller.put();
    const id = await caller.put({ dependsOn: [first] });
    wait();
    const answer = await update(id, { title: 'New' });
    expect(answer.status).toBe(200);
    expect(Object.keys(answer.body)).toEqual(['success', 'data']);
    const fields = ['id', 'title', 'status', 'priority', 'dependsOn', 'createdAt', 'updatedAt'];
    expect(Object.keys(dataOf(answer))).toEqual(fields);
    const updatedAt = new Date().toISOString();
    expect(dataOf(answer)).toMatchObject({ id, title: 'New', dependsOn: [first], updatedAt });
    const after = await read(id);
    expect([answer, after].map(versionOf)).toEqual([2, 2]);
    expect(dataOf(after)).toMatchObject({ id, title: 'New', updatedAt });
  });

  it.each([
    ['no body at all', undefined],
    ['the values that the task has', { title: 'A task', status: 'backlog', description: null, dependsOn: [] }],
  ])('of %s writes nothing and keeps ETag and updatedAt', async (_, patch) => {
    const id = await caller.put();
    const [before, task] = [await caller.dump(), await read(id)];
    wait();
    const answer = await update(id, patch);
    expect([answer.status, answer.headers.ETag]).toEqual([200, task.headers.ETag]);
    expect(dataOf(answer).updatedAt).toBe(dataOf(task).updatedAt);
    expect(await caller.dump()).toEqual(before);
  });

  it('of any status to any other is allowed, done of a blocked task included', async () => {
    const id = await caller.put({ dependsOn: [await caller.put()] });
    for (const status of ['done', 'backlog', 'up_for_review', 'in_progress', 'assigned', 'qa_review'])
      expect(dataOf(await update(id, { status }))).toMatchObject({ status });
  });

  it('keeps an agent that no longer exists', async () => {
    const id = await caller.put();
    await caller.setAttribute(id, 'assignedAgent', 'deleted');
    expect((await update(id, { assignedAgent: 'deleted', title: 'New' })).status).toBe(200);
  });
});

describe('a patch is refused and written nowhere', () => {
  it('with 422 unknown_reference for an agent that does not exist', async () => {
    const { details } = await refused(await caller.put(), { assignedAgent: 'missing-agent' }, 422, 'unknown_reference');
    expect(details).toMatchObject([{ path: 'assignedAgent', code: 'not_found' }]);
  });

  it("with 404 not_found for an absent task, and for another organization's, which stays as it is", async () => {
    const other = await newTaskCaller();
    const theirs = await other.put();
    const before = await other.dump();
    for (const id of [absent, theirs]) await refused(id, { title: 'Mine' }, 404, 'not_found');
    expect(await other.dump()).toEqual(before);
  });
});

describe('a patch of dependsOn', () => {
  it('adds, removes and reorders dependencies, which stay as they are themselves', async () => {
    const [one, two, three] = [await caller.put(), await caller.put(), await caller.put()];
    const id = await caller.put({ dependsOn: [one, two] });
    wait();
    for (const dependsOn of [
      [three, one],
      [one, three],
    ])
      expect(dataOf(await update(id, { dependsOn }))).toMatchObject({ dependsOn });
    const after = await read(id);
    expect(versionOf(after)).toBe(3);
    expect(dataOf<TaskDetail>(after).dependsOn.map((task) => task.id)).toEqual([one, three]);
    const added = await read(three);
    expect(versionOf(added)).toBe(1);
    expect(dataOf(added).updatedAt).toBe(dataOf(added).createdAt);
    expect((await caller.deleteTask({ params: { id: two } })).status).toBe(200);
  });

  it('is refused with 409 dependency_cycle for a ring of three, at the dependency that closes it', async () => {
    const [a, other] = [await caller.put(), await caller.put()];
    const b = await caller.put({ dependsOn: [a] });
    const c = await caller.put({ dependsOn: [b] });
    const { details } = await refused(a, { dependsOn: [other, c] }, 409, 'dependency_cycle');
    const message = expect.stringContaining(`${a} → ${c} → ${b} → ${a}`);
    expect(details).toEqual([{ path: 'dependsOn.1', code: 'cycle', message }]);
  });

  it('is refused with 422 unknown_reference for each id that does not exist, before a ring is looked for', async () => {
    const id = await caller.put();
    const dependsOn = [absent, id, 'tk_01K00000000000000000000001'];
    const { details = [] } = await refused(id, { dependsOn }, 422, 'unknown_reference');
    expect(details.map(({ path }) => path)).toEqual(['dependsOn.0', 'dependsOn.2']);
  });

  it('is refused with 409 limit_reached by a task that has 500 dependents', async () => {
    const [id, full] = [await caller.put(), await caller.put()];
    await caller.setAttribute(full, 'dependents', allDependents);
    const { details } = await refused(id, { dependsOn: [full] }, 409, 'limit_reached');
    expect(details).toMatchObject([{ path: 'dependsOn.0', code: 'limit' }]);
  });
});
