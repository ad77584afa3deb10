import { describe, expect, it } from 'vitest';
import { dataOf, paginationOf, versionOf } from '../../api.ts';
import { newForEachTest } from '../../caller.ts';
import { itemsNaming } from '../../table/fixtures/table-dump.ts';
import { createTaskCallers } from './task-caller.ts';

const { newTaskCaller } = await createTaskCallers();
const absent = 'tk_01K00000000000000000000000';
const caller = newForEachTest(newTaskCaller);

const remove = (id: string) => caller.deleteTask({ params: { id } });

describe('a delete', () => {
  it('answers exactly {success: true}, and ignores a body, which it does not have', async () => {
    const answer = await caller.deleteTask({ params: { id: await caller.put() }, body: '{"broken' });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ success: true });
    expect(answer.headers).not.toHaveProperty('ETag');
  });

  it('takes the task out of every read and leaves nothing of it in the table but its deletion and empty counters', async () => {
    const id = await caller.put({ assignedAgent: 'qa-reviewer', projectId: 'proj_1' });
    await remove(id);
    await caller.refuses(() => caller.getTask({ params: { id } }), 404, 'not_found');
    for (const query of ['', 'status=backlog', 'assigned_agent=qa-reviewer&project_id=proj_1'])
      expect(paginationOf(await caller.listTasks({ query })).total).toBe(0);
    expect(itemsNaming(await caller.dump(), id)).toEqual([]);
  });

  it('is allowed while the task depends on others, which can be deleted then too', async () => {
    const first = await caller.put();
    const second = await caller.put({ dependsOn: [first] });
    for (const id of [second, first]) expect((await remove(id)).status).toBe(200);
  });

  it('is allowed once the dependent is done, whose dependsOn loses the task', async () => {
    const [kept, deleted] = [await caller.put(), await caller.put()];
    const dependent = await caller.put({ dependsOn: [deleted, kept] });
    await caller.updateTask({ params: { id: dependent }, body: { status: 'done' } });
    expect((await remove(deleted)).status).toBe(200);
    const read = await caller.getTask({ params: { id: dependent } });
    expect(dataOf(read).dependsOn).toMatchObject([{ id: kept }]);
    expect(versionOf(read)).toBe(3);
  });
});

describe('a delete is refused and written nowhere', () => {
  it('with 409 has_dependents while a dependent is not done, which the details name', async () => {
    const id = await caller.put();
    const waiting = await caller.put({ dependsOn: [id], status: 'up_for_review' });
    const finished = await caller.put({ dependsOn: [id], status: 'done' });
    const error = await caller.refuses(() => remove(id), 409, 'has_dependents');
    expect(error.details).toMatchObject([{ code: 'blocking', message: expect.stringContaining(waiting) }]);
    expect(JSON.stringify(error)).not.toContain(finished);
  });

  it('with 404 not_found for a task that does not exist, or not any more', async () => {
    const id = await caller.put();
    await remove(id);
    for (const other of [absent, id]) await caller.refuses(() => remove(other), 404, 'not_found');
  });

  it("with 404 not_found for another organization's task, which stays as it is", async () => {
    const other = await newTaskCaller();
    const theirs = await other.put();
    const before = await other.dump();
    await caller.refuses(() => remove(theirs), 404, 'not_found');
    expect(await other.dump()).toEqual(before);
  });
});
