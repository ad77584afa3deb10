import { describe, expect, it } from 'vitest';
import { dataOf, paginationOf } from '../../api.ts';
import { openBoards } from './board.ts';

const { newBoard } = await openBoards();
const absent = 'tk_01K00000000000000000000000';

describe('a delete', () => {
  it('answers exactly {success: true}', async () => {
    const board = await newBoard();
    const answer = await board.deleteTask({ params: { id: await board.put() } });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ success: true });
    expect(answer.headers).not.toHaveProperty('ETag');
  });

  it('takes the task out of every read and leaves nothing of it in the table but empty counters', async () => {
    const board = await newBoard();
    const id = await board.put({ assignedAgent: 'qa-reviewer', projectId: 'proj_1' });
    await board.deleteTask({ params: { id } });
    await board.refuses(() => board.getTask({ params: { id } }), 404, 'not_found');
    for (const query of ['', 'status=backlog', 'assigned_agent=qa-reviewer&project_id=proj_1'])
      expect(paginationOf(await board.listTasks({ query })).total).toBe(0);
    expect(JSON.stringify(await board.dump())).not.toContain(id.slice(3));
  });

  it('is allowed while the task depends on others, which can be deleted then too', async () => {
    const board = await newBoard();
    const first = await board.put();
    const second = await board.put({ dependsOn: [first] });
    expect((await board.deleteTask({ params: { id: second } })).status).toBe(200);
    expect((await board.deleteTask({ params: { id: first } })).status).toBe(200);
  });

  it('is allowed once the dependent is done, whose dependsOn loses the task', async () => {
    const board = await newBoard();
    const [kept, gone] = [await board.put(), await board.put()];
    const dependent = await board.put({ dependsOn: [gone, kept] });
    await board.updateTask({ params: { id: dependent }, body: { status: 'done' } });
    expect((await board.deleteTask({ params: { id: gone } })).status).toBe(200);
    const read = await board.getTask({ params: { id: dependent } });
    expect(dataOf(read).dependsOn).toMatchObject([{ id: kept }]);
    expect(read.headers.ETag).toBe('"3"');
  });

  it('is allowed once the dependent does not depend on it any more', async () => {
    const board = await newBoard();
    const gone = await board.put();
    const dependent = await board.put({ dependsOn: [gone] });
    await board.updateTask({ params: { id: dependent }, body: { dependsOn: [] } });
    expect((await board.deleteTask({ params: { id: gone } })).status).toBe(200);
  });

  it('detaches 80 done dependents', async () => {
    const board = await newBoard();
    const gone = await board.put();
    const body = { status: 'done', dependsOn: [gone] };
    const dependents = await Promise.all(Array.from({ length: 80 }, () => board.put(body)));
    expect((await board.deleteTask({ params: { id: gone } })).status).toBe(200);
    const shown = dataOf<{ dependsOn: string[] }[]>(await board.listTasks({ query: 'limit=100' }));
    expect(shown).toHaveLength(dependents.length);
    expect(shown.flatMap(({ dependsOn }) => dependsOn)).toEqual([]);
    expect(JSON.stringify(await board.dump())).not.toContain(gone.slice(3));
  });

  it('pays no heed to a body, which it does not take', async () => {
    const board = await newBoard();
    const id = await board.put();
    expect((await board.deleteTask({ params: { id }, body: '{"broken' })).status).toBe(200);
  });
});

describe('a delete is refused and written nowhere', () => {
  it('with 409 has_dependents while a dependent is not done, which the details name', async () => {
    const board = await newBoard();
    const id = await board.put();
    const waiting = await board.put({ dependsOn: [id], status: 'up_for_review' });
    const finished = await board.put({ dependsOn: [id], status: 'done' });
    const error = await board.refuses(() => board.deleteTask({ params: { id } }), 409, 'has_dependents');
    expect(error.details).toMatchObject([{ code: 'blocking' }]);
    expect(error.details?.[0]?.message).toContain(waiting);
    expect(JSON.stringify(error)).not.toContain(finished);
  });

  it('with 409 has_dependents, naming 20 dependents at most', async () => {
    const board = await newBoard();
    const id = await board.put();
    await Promise.all(Array.from({ length: 21 }, () => board.put({ dependsOn: [id] })));
    const error = await board.refuses(() => board.deleteTask({ params: { id } }), 409, 'has_dependents');
    expect(error.details).toHaveLength(20);
    expect(error.message).toContain('21');
  });

  it('with 404 not_found for a task that does not exist', async () => {
    const board = await newBoard();
    await board.refuses(() => board.deleteTask({ params: { id: absent } }), 404, 'not_found');
  });

  it('with 404 not_found the second time', async () => {
    const board = await newBoard();
    const id = await board.put();
    await board.deleteTask({ params: { id } });
    await board.refuses(() => board.deleteTask({ params: { id } }), 404, 'not_found');
  });

  it('with 404 not_found for an impossible id', async () => {
    const board = await newBoard();
    await board.refuses(() => board.deleteTask({ params: { id: '__proto__' } }), 404, 'not_found');
  });

  it("with 404 not_found for another organization's task, which stays as it is", async () => {
    const [board, other] = [await newBoard(), await newBoard()];
    const theirs = await other.put();
    const before = await other.dump();
    await board.refuses(() => board.deleteTask({ params: { id: theirs } }), 404, 'not_found');
    expect(await other.dump()).toEqual(before);
  });

  it('with 400 validation_failed for a query, which it does not take', async () => {
    const board = await newBoard();
    const id = await board.put();
    await board.refuses(() => board.deleteTask({ params: { id }, query: 'force=true' }), 400, 'validation_failed');
  });

  it('with 401 unauthorized without a token', async () => {
    const board = await newBoard();
    const id = await board.put();
    await board.refuses(() => board.deleteTask({ params: { id }, token: undefined }), 401, 'unauthorized');
  });

  it('with 403 insufficient_scope by a token that may only read tasks', async () => {
    const board = await newBoard(['tasks:read', 'agents:write']);
    await board.refuses(() => board.deleteTask({ params: { id: absent } }), 403, 'insufficient_scope');
  });

  it('with 413 payload_too_large for a body of 300 KB', async () => {
    const board = await newBoard();
    const id = await board.put();
    await board.refuses(
      () => board.deleteTask({ params: { id }, body: 'x'.repeat(300 * 1024) }),
      413,
      'payload_too_large',
    );
  });
});
