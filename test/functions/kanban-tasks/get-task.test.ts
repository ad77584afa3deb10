import { describe, expect, it } from 'vitest';
import type { TaskDetail } from '../../../lib/contract/tasks.ts';
import { dataOf } from '../../api.ts';
import { openBoards } from './board.ts';

const { newBoard } = await openBoards();
const absent = 'tk_01K00000000000000000000000';

describe('a read of a task', () => {
  it('answers exactly the set fields, dependsOn and blockedBy', async () => {
    const board = await newBoard();
    const answer = await board.getTask({ params: { id: await board.put({ title: 'A bare task' }) } });
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
    const board = await newBoard();
    const set = { description: '', assignedAgent: 'qa-reviewer', projectId: 'proj_1' };
    const answer = await board.getTask({ params: { id: await board.put(set) } });
    expect(dataOf(answer)).toMatchObject(set);
    expect(Object.keys(dataOf(answer))).toHaveLength(11);
  });

  it('expands the dependencies in the given order, and names those that are not done as blockers', async () => {
    const board = await newBoard();
    const first = await board.put({ title: 'First', status: 'in_progress' });
    const second = await board.put({ title: 'Second', status: 'done' });
    const third = await board.put({ title: 'Third' });
    const answer = await board.getTask({ params: { id: await board.put({ dependsOn: [third, first, second] }) } });
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
    const board = await newBoard();
    const first = await board.put({ title: 'Before' });
    const second = await board.put({ dependsOn: [first] });
    await board.updateTask({ params: { id: first }, body: { title: 'After', status: 'done' } });
    const { dependsOn, blockedBy } = dataOf<TaskDetail>(await board.getTask({ params: { id: second } }));
    expect(dependsOn).toEqual([{ id: first, title: 'After', status: 'done' }]);
    expect(blockedBy).toEqual([]);
  });

  it('has the version as its ETag, which being depended on does not change', async () => {
    const board = await newBoard();
    const id = await board.put();
    expect((await board.getTask({ params: { id } })).headers.ETag).toBe('"1"');
    await board.put({ dependsOn: [id] });
    const answer = await board.getTask({ params: { id } });
    expect(answer.headers.ETag).toBe('"1"');
    expect(dataOf(answer).updatedAt).toBe(dataOf(answer).createdAt);
  });
});

describe('a read of a task is refused', () => {
  it('with 404 not_found for a task that does not exist', async () => {
    const board = await newBoard();
    await board.refuses(() => board.getTask({ params: { id: absent } }), 404, 'not_found');
  });

  it('with 404 not_found for a task that was deleted', async () => {
    const board = await newBoard();
    const id = await board.put();
    await board.deleteTask({ params: { id } });
    await board.refuses(() => board.getTask({ params: { id } }), 404, 'not_found');
  });

  it("with 404 not_found for another organization's task", async () => {
    const [board, other] = [await newBoard(), await newBoard()];
    const theirs = await other.put();
    await board.refuses(() => board.getTask({ params: { id: theirs } }), 404, 'not_found');
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
    const board = await newBoard();
    await board.refuses(() => board.getTask({ params: { id } }), 404, 'not_found');
  });

  it('with 404 not_found for an id of 10 KB', async () => {
    const board = await newBoard();
    await board.refuses(() => board.getTask({ params: { id: 'x'.repeat(10_240) } }), 404, 'not_found');
  });

  it('with one and the same answer, whether the task is absent, foreign or impossible', async () => {
    const [board, other] = [await newBoard(), await newBoard()];
    const answers = [];
    for (const id of [absent, await other.put(), 'impossible']) {
      const { requestId: _, ...said } = await board.refuses(() => board.getTask({ params: { id } }), 404, 'not_found');
      answers.push(said);
    }
    expect(answers[1]).toEqual(answers[0]);
    expect(answers[2]).toEqual(answers[0]);
  });

  it('with 400 validation_failed for a query, which it does not take', async () => {
    const board = await newBoard();
    const id = await board.put();
    const error = await board.refuses(
      () => board.getTask({ params: { id }, query: 'expand=1' }),
      400,
      'validation_failed',
    );
    expect(error.details).toMatchObject([{ path: 'expand', code: 'unknown_field' }]);
  });

  it('with 401 unauthorized without a token', async () => {
    const board = await newBoard();
    const id = await board.put();
    await board.refuses(() => board.getTask({ params: { id }, token: undefined }), 401, 'unauthorized');
  });

  it('with 403 insufficient_scope by a token that may only write tasks', async () => {
    const board = await newBoard(['tasks:write']);
    await board.refuses(() => board.getTask({ params: { id: absent } }), 403, 'insufficient_scope');
  });
});
