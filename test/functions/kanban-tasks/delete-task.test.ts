import { describe, expect, it } from 'vitest';
import { dataOf, paginationOf } from '../../api.ts';
import { createTaskCallers } from './task-caller.ts';

const { newTaskCaller } = await createTaskCallers();
const absent = 'tk_01K00000000000000000000000';

describe('a delete', () => {
  it('answers exactly {success: true}', async () => {
    const caller = await newTaskCaller();
    const answer = await caller.deleteTask({ params: { id: await caller.put() } });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ success: true });
    expect(answer.headers).not.toHaveProperty('ETag');
  });

  it('takes the task out of every read and leaves nothing of it in the table but empty counters', async () => {
    const caller = await newTaskCaller();
    const id = await caller.put({ assignedAgent: 'qa-reviewer', projectId: 'proj_1' });
    await caller.deleteTask({ params: { id } });
    await caller.refuses(() => caller.getTask({ params: { id } }), 404, 'not_found');
    for (const query of ['', 'status=backlog', 'assigned_agent=qa-reviewer&project_id=proj_1'])
      expect(paginationOf(await caller.listTasks({ query })).total).toBe(0);
    expect(JSON.stringify(await caller.dump())).not.toContain(id.slice(3));
  });

  it('is allowed while the task depends on others, which can be deleted then too', async () => {
    const caller = await newTaskCaller();
    const first = await caller.put();
    const second = await caller.put({ dependsOn: [first] });
    expect((await caller.deleteTask({ params: { id: second } })).status).toBe(200);
    expect((await caller.deleteTask({ params: { id: first } })).status).toBe(200);
  });

  it('is allowed once the dependent is done, whose dependsOn loses the task', async () => {
    const caller = await newTaskCaller();
    const [kept, gone] = [await caller.put(), await caller.put()];
    const dependent = await caller.put({ dependsOn: [gone, kept] });
    await caller.updateTask({ params: { id: dependent }, body: { status: 'done' } });
    expect((await caller.deleteTask({ params: { id: gone } })).status).toBe(200);
    const read = await caller.getTask({ params: { id: dependent } });
    expect(dataOf(read).dependsOn).toMatchObject([{ id: kept }]);
    expect(read.headers.ETag).toBe('"3"');
  });

  it('is allowed once the dependent does not depend on it any more', async () => {
    const caller = await newTaskCaller();
    const gone = await caller.put();
    const dependent = await caller.put({ dependsOn: [gone] });
    await caller.updateTask({ params: { id: dependent }, body: { dependsOn: [] } });
    expect((await caller.deleteTask({ params: { id: gone } })).status).toBe(200);
  });

  it('detaches 80 done dependents', async () => {
    const caller = await newTaskCaller();
    const gone = await caller.put();
    const body = { status: 'done', dependsOn: [gone] };
    const dependents = await Promise.all(Array.from({ length: 80 }, () => caller.put(body)));
    expect((await caller.deleteTask({ params: { id: gone } })).status).toBe(200);
    const shown = dataOf<{ dependsOn: string[] }[]>(await caller.listTasks({ query: 'limit=100' }));
    expect(shown).toHaveLength(dependents.length);
    expect(shown.flatMap(({ dependsOn }) => dependsOn)).toEqual([]);
    expect(JSON.stringify(await caller.dump())).not.toContain(gone.slice(3));
  });

  it('pays no heed to a body, which it does not take', async () => {
    const caller = await newTaskCaller();
    const id = await caller.put();
    expect((await caller.deleteTask({ params: { id }, body: '{"broken' })).status).toBe(200);
  });
});

describe('a delete is refused and written nowhere', () => {
  it('with 409 has_dependents while a dependent is not done, which the details name', async () => {
    const caller = await newTaskCaller();
    const id = await caller.put();
    const waiting = await caller.put({ dependsOn: [id], status: 'up_for_review' });
    const finished = await caller.put({ dependsOn: [id], status: 'done' });
    const error = await caller.refuses(() => caller.deleteTask({ params: { id } }), 409, 'has_dependents');
    expect(error.details).toMatchObject([{ code: 'blocking' }]);
    expect(error.details?.[0]?.message).toContain(waiting);
    expect(JSON.stringify(error)).not.toContain(finished);
  });

  it('with 409 has_dependents, naming 20 dependents at most', async () => {
    const caller = await newTaskCaller();
    const id = await caller.put();
    await Promise.all(Array.from({ length: 21 }, () => caller.put({ dependsOn: [id] })));
    const error = await caller.refuses(() => caller.deleteTask({ params: { id } }), 409, 'has_dependents');
    expect(error.details).toHaveLength(20);
    expect(error.message).toContain('21');
  });

  it('with 404 not_found for a task that does not exist', async () => {
    const caller = await newTaskCaller();
    await caller.refuses(() => caller.deleteTask({ params: { id: absent } }), 404, 'not_found');
  });

  it('with 404 not_found the second time', async () => {
    const caller = await newTaskCaller();
    const id = await caller.put();
    await caller.deleteTask({ params: { id } });
    await caller.refuses(() => caller.deleteTask({ params: { id } }), 404, 'not_found');
  });

  it('with 404 not_found for an impossible id', async () => {
    const caller = await newTaskCaller();
    await caller.refuses(() => caller.deleteTask({ params: { id: '__proto__' } }), 404, 'not_found');
  });

  it("with 404 not_found for another organization's task, which stays as it is", async () => {
    const [caller, other] = [await newTaskCaller(), await newTaskCaller()];
    const theirs = await other.put();
    const before = await other.dump();
    await caller.refuses(() => caller.deleteTask({ params: { id: theirs } }), 404, 'not_found');
    expect(await other.dump()).toEqual(before);
  });

  it('with 400 validation_failed for a query, which it does not take', async () => {
    const caller = await newTaskCaller();
    const id = await caller.put();
    await caller.refuses(() => caller.deleteTask({ params: { id }, query: 'force=true' }), 400, 'validation_failed');
  });

  it('with 401 unauthorized without a token', async () => {
    const caller = await newTaskCaller();
    const id = await caller.put();
    await caller.refuses(() => caller.deleteTask({ params: { id }, token: undefined }), 401, 'unauthorized');
  });

  it('with 403 insufficient_scope by a token that may only read tasks', async () => {
    const caller = await newTaskCaller(['tasks:read', 'agents:write']);
    await caller.refuses(() => caller.deleteTask({ params: { id: absent } }), 403, 'insufficient_scope');
  });

  it('with 413 payload_too_large for a body of 300 KB', async () => {
    const caller = await newTaskCaller();
    const id = await caller.put();
    await caller.refuses(
      () => caller.deleteTask({ params: { id }, body: 'x'.repeat(300 * 1024) }),
      413,
      'payload_too_large',
    );
  });
});
